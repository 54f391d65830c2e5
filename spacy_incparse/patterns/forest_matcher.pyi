from spacy_incparse.patterns.compile import Program
from spacy_incparse.patterns.pattern import LabelTests
from spacy_incparse.trees.forest import Forest
from spacy_incparse.trees.heads import HeadRules

Found = tuple[int, list[int], list[tuple[int, ...]]]

class Matcher:
    def __init__(self, program: Program, tests: LabelTests, heads: HeadRules, *, raw_labels: bool) -> None: ...
    def count(self, forest: Forest, token_masks: list[int] | None = None) -> int: ...
    def find(
        self, forest: Forest, first: int, behind: int, every: bool, token_masks: list[int] | None = None
    ) -> list[Found]: ...
