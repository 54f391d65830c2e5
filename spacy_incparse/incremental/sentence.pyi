from typing import Any

class Sentence:
    generative_model: int
    def __init__(
        self,
        words: Any,
        classes: Any,
        tags: Any,
        n_tags: int,
        ends_in_question: bool,
        alternatives: Any = ...,
        clusters: Any = ...,
        generative_words: Any = ...,
        generative_model: int = ...,
    ) -> None: ...
    def __len__(self) -> int: ...
    def to_tuple(self) -> Any: ...

class IntVector:
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Any: ...
