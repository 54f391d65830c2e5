from typing import Any

class ContextTable:
    n_levels: int
    def __init__(
        self,
        n_levels: int,
        above: bytes,
        values: bytes,
        n_outcomes: bytes,
        outcomes: bytes,
        counts: bytes,
        weights: bytes,
    ) -> None: ...
    def __len__(self) -> int: ...

class Probabilities:
    lock: Any
    def __init__(
        self,
        moves: Any,
        root: int,
        nodes: ContextTable,
        words: ContextTable,
        node_fields: Any,
        word_fields: Any,
        class_of: Any,
        class_bases: bytes,
    ) -> None: ...
    def node_distribution(self, values: Any) -> Any: ...
    def word_probability(self, values: Any, tag: int, word: int) -> Any: ...

class Scorer:
    def __init__(self, moves: Any, probabilities: Probabilities) -> None: ...
