"""Train a neural pipeline pass by pass, so that it can go on after an interruption as if there had been none.

A pass is spaCy's `train_while_improving` over the training corpus. Each begins with random numbers of its own: the
pipeline's weights and the optimizer after a pass are then all that the next one needs.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.loop import create_evaluation_callback, train_while_improving
from spacy.util import registry, resolve_dot_names
from thinc.api import Model, fix_random_seed

from spacy_incparse.pipeline.training_steps import set_steps
from spacy_incparse.training.extra_trees import PassSelection

OnStep = Callable[[int, int], object]
"""Takes the numbers of sentences that a pass has learned from, and of all."""

_NEVER = sys.maxsize


class NeuralPasses:
    """The passes of one training run, by the section [training] of the pipeline's config.

    selection: which examples of the training corpus are in a pass; None: all of them.
    """

    def __init__(self, nlp: Language, selection: PassSelection | None = None):
        config = nlp.config.interpolate()
        names = [config["training"][name] for name in ("train_corpus", "dev_corpus")]
        train_corpus, dev_corpus = resolve_dot_names(config, names)
        self._examples: list[Example] = list(train_corpus(nlp))
        self._selection = selection or PassSelection(len(self._examples))
        set_steps(nlp, self._of_pass(1))
        self._settings = registry.resolve(nlp.config.interpolate()["training"], schema=ConfigSchemaTraining)
        self.nlp, self.optimizer = nlp, self._settings["optimizer"]
        self._evaluate = create_evaluation_callback(nlp, dev_corpus, self._settings["score_weights"])

    @property
    def number(self) -> int:
        """How many passes there are."""
        return int(self._settings["max_epochs"])

    def learn(self, number: int, on_step: OnStep) -> int:
        """Make a pass; return how many updates it had."""
        settings = self._settings
        fix_random_seed((settings["seed"] or 0) * self.number + number)
        chosen = self._of_pass(number)
        examples = random.sample(chosen, len(chosen))
        updates = train_while_improving(
            self.nlp,
            self.optimizer,
            ((number, list(batch)) for batch in settings["batcher"](examples)),
            lambda: (0.0, {}),  # it evaluates after the first update, whatever the frequency
            dropout=settings["dropout"],
            eval_frequency=_NEVER,
            accumulate_gradient=settings["accumulate_gradient"],
            patience=0,
            max_steps=0,
            exclude=settings["frozen_components"],
            annotating_components=settings["annotating_components"],
            before_update=settings["before_update"],
        )
        n_updates = n_done = 0
        for batch, _, _ in updates:
            n_updates += 1
            n_done += len(batch)
            on_step(n_done, len(examples))
        return n_updates

    def _of_pass(self, number: int) -> list[Example]:
        return [self._examples[place] for place in self._selection.of_pass(number)]

    def skip(self, n_updates: int) -> None:
        """Let the optimizer's schedules go on as after so many updates."""
        for _ in range(n_updates):
            self.optimizer.step_schedules()

    def scores(self) -> tuple[float, dict[str, Any]]:
        """Return the score that chooses the best pass, and all scores on the dev corpus.

        The pipeline is first made ready to be saved, such as by fitting its temperature: what was saved after an
        earlier pass must not count.
        """
        with self._averaged():
            if self._settings["before_to_disk"]:
                self._settings["before_to_disk"](self.nlp)
            return self._evaluate()

    def save(self, scores: dict[str, Any], write: Callable[[Language], object]) -> None:
        """Let `write` write the pipeline with the averaged weights, if the optimizer averages."""
        weights = self._settings["score_weights"]
        self.nlp.meta["performance"] = {name: scores[name] for name in weights if scores.get(name) is not None}
        with self._averaged():
            write(self.nlp)

    def components(self) -> Iterator[tuple[str, Any]]:
        """Yield the components that learn, with their names."""
        for name, component in self.nlp.pipeline:
            if getattr(component, "is_trainable", False) and isinstance(getattr(component, "model", None), Model):
                yield name, component

    def _averaged(self) -> AbstractContextManager[object]:
        averages = self.optimizer.averages
        return self.nlp.use_params(averages) if averages else nullcontext()
