from spacy_incparse.trees.forest import Forest

DROP_EMPTIES: int
STRIP_FUNCTIONS: int
ONE_TOP: int
MERGE_DOUBLED: int
ALL_STEPS: int

def normalized(source: Forest, steps: int = ...) -> Forest: ...
