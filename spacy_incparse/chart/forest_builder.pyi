from typing import Any

MAX_EDGES: Any

class RuleTables:
    n_states: int
    glue: int
    first_lexical: int
    def __init__(self, grammar: Any, is_relaxed: bool = ...) -> None: ...

class SpanStates:
    n_states: int
    def __init__(self, first: Any, states: Any, n_states: int) -> None: ...
    @staticmethod
    def from_mask(mask: Any) -> Any: ...
    def to_mask(self) -> Any: ...
    @property
    def n_spans(self) -> Any: ...

class SpanLimits:
    n_words: int
    def __init__(self, grammar: Any, tables: RuleTables, constraints: Any, n_words: int) -> None: ...

class ForestBuilder:
    tables: RuleTables
    def __init__(self, tables: RuleTables, max_edges: int = ...) -> None: ...
    def build(self, words: Any, limits: SpanLimits | None = ..., mask: Any = ...) -> Any: ...
