from typing import Any

class Engine:
    def __init__(self, settings: Any, clusters: Any) -> None: ...
