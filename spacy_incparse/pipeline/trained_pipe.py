"""What the trainable components have in common, and what spaCy asks of them that they have no use for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from spacy.pipeline import TrainablePipe
from spacy.training import Example, validate_examples
from spacy.vocab import Vocab

from spacy_incparse.pipeline.model import ComponentModel, named_errors

AnyPipe = TypeVar("AnyPipe", bound="TrainedPipe")


class TrainedPipe(TrainablePipe):
    """A component whose weights are no network's: they have neither gradients nor averages of thinc's."""

    is_resizable = False
    _warned: set[str]  # kinds of warnings that were shown

    def add_label(self, label: str) -> int:
        """Return 0: labels come from what the component is trained on in `initialize`, and cannot be added."""
        return 0

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Check the examples and return `losses`, with 0 for this component: all training happens in `initialize`."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(list(examples), f"{type(self).__name__}.update")
        return losses

    def finish_update(self, sgd: Any) -> None:
        """Do nothing: there are no gradients."""

    def use_params(self, params: Any) -> Iterator[None]:
        """Do nothing: `predict` uses averaged weights, independently of thinc's averages."""
        yield

    def from_disk(self: AnyPipe, path: str | Path, *, exclude: Iterable[str] = ()) -> AnyPipe:
        """Load the component from a folder. If weights cannot be read, raises ModelError without changing anything."""
        with named_errors(path):
            return super().from_disk(path, exclude=exclude)

    def _warn_once(self, kind: str, text: str) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            warnings.warn(f"{self.name}: {text} (this warning is shown once)", stacklevel=3)


def unpickled(
    cls: Callable[..., AnyPipe],
    vocab: Vocab,
    model: ComponentModel,
    name: str,
    scorer: Callable | None,
    state: dict[str, Any],
) -> AnyPipe:
    """Return a component with this state, as `__reduce__` asks for."""
    component = cls(vocab, model, name, scorer=scorer)
    component.cfg.update(state.pop("cfg", {}))  # spaCy keeps it outside of __dict__
    component.__dict__.update(state)
    return component
