from typing import Any

class Scorer:
    lock: Any
    moves: Any
    weights: Any
    def __init__(self, moves: Any, templates: Any, weights: Any) -> None: ...
