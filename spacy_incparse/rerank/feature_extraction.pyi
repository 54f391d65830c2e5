from collections.abc import Iterable, Sequence

import numpy as np

from spacy_incparse.rerank.features import FeatureColumns
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

class FeatureExtractor:
    families: tuple[str, ...]
    heads: HeadRules
    max_count: int
    closed_tags: tuple[str, ...]
    def __init__(
        self, families: Sequence[str], heads: HeadRules, max_count: int = 4, *, closed_tags: Iterable[str] = ()
    ) -> None: ...
    def keys(self, trees: Sequence[Tree], *, drop_common: bool = True) -> tuple[np.ndarray, np.ndarray]: ...
    def columns(self, trees: Sequence[Tree], columns: FeatureColumns) -> tuple[np.ndarray, np.ndarray]: ...
