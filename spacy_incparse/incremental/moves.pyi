from typing import Any

WORST_RANK: Any

class Moves:
    n_columns: int
    longest_chain: int
    leaves: tuple[Any, ...]
    leaf_numbers: dict[Any, Any]
    def __init__(self, grammar: Any, heads: Any, punctuation: Any, min_count: int, min_share: float) -> None: ...

class BracketConstraints:
    moves: Moves
    def __init__(self, moves: Moves, n_words: int, required: Any, forbidden: Any) -> None: ...

class LeftCornerMoves:
    def __init__(self, nonterminals: Any, first: int) -> None: ...
    def of(self, arrays: Any) -> Any: ...
