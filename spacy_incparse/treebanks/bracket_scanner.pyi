from spacy_incparse.trees.forest import Forest, Symbols

class BracketReader:
    symbols: Symbols
    def __init__(self, symbols: Symbols) -> None: ...
    def read(self, text: bytes, forest: Forest) -> int: ...

DROP_EMPTIES: int
STRIP_FUNCTIONS: int
ONE_TOP: int
MERGE_DOUBLED: int

def normalized(source: Forest, steps: int = ...) -> Forest: ...
