"""The measurements for the paper's tables: settings chosen for each side, and scores on the dev part by seed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import mean
from typing import Any

from paper_sides import (
    GOLD,
    PREDICTED,
    Config,
    Corpus,
    Side,
    Treebank,
    measure,
    search_weights,
    searches,
    temperatures,
    try_settings,
    variants,
)
from parts import Figures, Parts

from spacy_incparse.cli.options import progress_bar
from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.incremental.coverage import GrammarTable, grammar_table
from spacy_incparse.tagging.tagger import Tagger, jackknife_tags
from spacy_incparse.training.loop import fingerprint
from spacy_incparse.training.preparation import Progress
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class Choice:
    """The best settings of a side on the held-out part, including those of the search.

    temperature: for the tree of the best expected F, with its F on the held-out part; None if not requested.
    """

    config: Config
    n_passes: int
    held_out_f: float
    temperature: float | None
    held_out_risk_f: float | None


@dataclass(frozen=True)
class Result:
    """A side with one kind of tags: the chosen settings, and the scores on the dev part.

    risk: whether the scores are those of the trees of the best expected F. runs: one per seed; if nothing depends on
    the seed, there are no seeds and one run.
    """

    side: Side
    kind: str
    risk: bool
    choice: Choice
    seeds: Sequence[int]
    runs: Sequence[dict[str, Any]]

    @property
    def f(self) -> float:
        """The mean F."""
        return self.mean("const_f")

    def mean(self, key: str) -> float:
        """Return the mean of a score."""
        return mean(run[key] for run in self.runs)

    @property
    def curve(self) -> list[float]:
        """The mean F after each pass."""
        return [mean(column) for column in zip(*(run.get("by_pass", ()) for run in self.runs), strict=True)]

    def gains(self, other: Result) -> list[float]:
        """Return the difference in F to another side, by seed."""
        return [
            run["const_f"] - other.runs[number % len(other.runs)]["const_f"] for number, run in enumerate(self.runs)
        ]


class Study:
    """All measurements on one treebank; each is made once, and those stored in `parts` are not repeated."""

    def __init__(
        self,
        train: Sequence[Tree],
        dev: Sequence[Tree],
        parts: Parts,
        *,
        lang: str = "en",
        seeds: Sequence[int] = (0,),
        epochs: int | None = None,
        weights: Sequence[float] | None = None,
    ):
        self.train, self.dev, self.lang, self.seeds = train, dev, lang, seeds
        self._parts, self._epochs, self._weights = parts, epochs, weights
        self._treebanks: dict[str, Treebank] = {}
        self._read_settings: dict[str, tuple[Config, int, HeadRules]] = {}

    def result(self, side: Side, kind: str, *, risk: bool = False) -> Result:
        """Choose a side's settings, train it with each seed and score it; `risk`: score trees of best expected F."""
        choice = self._choose(side, kind)
        seeds = () if isinstance(choice.config, GenerativeConfig) else self.seeds
        runs = [self._run(side, kind, choice, seed) for seed in seeds or (0,)]
        return Result(side, kind, risk, choice, seeds, [run["risk"] for run in runs] if risk else runs)

    def differ(self, one: Side, other: Side) -> bool:
        """Return whether two sides are trained in different ways."""
        return self._settings(one)[:2] != self._settings(other)[:2]

    def chains(self, *, tagged: bool) -> GrammarTable:
        """Compute table 1; with `tagged`, also for the tagger's tags."""
        tags = self._tags if tagged else None
        return grammar_table(
            self.train, self.dev,
            train_tags=tags and tags["train"], held_out_tags=tags and tags["dev"], with_top=True,
        )  # fmt: skip

    @cached_property
    def _checksum(self) -> str:
        return fingerprint([*self.train, *self.dev], {"n_train": len(self.train), "lang": self.lang})

    @cached_property
    def _tags(self) -> dict[str, list[tuple[str, ...]]]:
        """The tagger's tags of the dev part, and jackknifed tags (in tenths) of the train part.

        A tree's tags are the same during and after the choice of settings, and for all sides.
        """

        def tag() -> Figures:
            with _Line("the tagger, jackknifed") as line:
                words, tags = [tree.words for tree in self.train], [tree.tags for tree in self.train]
                tagger = Tagger.train(words, tags, seed=0)
                train = jackknife_tags(words, tags, seed=0, progress=lambda done, n: line.show("folds", done, n))
                dev = tagger.candidate_tags([tree.words for tree in self.dev], 1, 0.0)
                return {"train": list(map(" ".join, train)), "dev": list(map(" ".join, dev))}

        kept = self._parts.get("tags", self._checksum, tag)
        return {part: [tuple(row.split(" ")) for row in rows] for part, rows in kept.items()}

    def _treebank(self, kind: str) -> Treebank:
        """Return the treebank with one kind of tags."""
        if kind not in self._treebanks:
            tags = self._tags if kind == PREDICTED else {"train": (), "dev": ()}
            self._treebanks[kind] = Treebank(
                Corpus.of(self.train, kind, tags["train"]), Corpus.of(self.dev, kind, tags["dev"])
            )
        return self._treebanks[kind]

    def _choose(self, side: Side, kind: str) -> Choice:
        config, n_passes, heads = self._settings(side)
        found = []
        for variant in variants(config, self._weights):
            name = f"{kind} tags, {side.name}{_weight(variant)}: settings"

            def attempt(progress: Progress, variant: Config = variant) -> Figures:
                return try_settings(variant, self._treebank(kind), heads, n_passes, side.risk, progress)

            grid = {
                "searches": searches(variant),
                "weights": search_weights(variant),
                "temperatures": temperatures(variant) if side.risk else [],
            }
            tried = self._part(name, {"config": variant.to_dict(), "passes": n_passes, **grid}, attempt)
            search = _best(tried["by_search"], grid["searches"])[1]
            f, weight = _best(tried["by_weight"], grid["weights"])
            best_pass = _best(tried["by_pass"], range(1, n_passes + 1))[1]
            risk_f, temperature = _best(tried["by_temperature"], grid["temperatures"])
            found.append(Choice(variant.with_search(**search, **weight), best_pass, f, temperature, risk_f))
        return max(found, key=lambda choice: choice.held_out_f)

    def _run(self, side: Side, kind: str, choice: Choice, seed: int) -> Figures:
        _, n_passes, heads = self._settings(side)
        n_last = n_passes if side.curve and kind == GOLD else 0
        passes = {"n_passes": choice.n_passes, "n_last": n_last, "temperature": choice.temperature, "seed": seed}
        settings = {"config": choice.config.to_dict(), **passes}

        def score(progress: Progress) -> Figures:
            return measure(choice.config, self._treebank(kind), heads, **passes, progress=progress)

        return self._part(f"{kind} tags, {side.name}: seed {seed}", settings, score)

    def _settings(self, side: Side) -> tuple[Config, int, HeadRules]:
        if side.name not in self._read_settings:
            self._read_settings[side.name] = side.settings(self.lang, len(self.train))
        config, n_passes, heads = self._read_settings[side.name]
        is_generative = isinstance(config, GenerativeConfig)
        return config, 1 if is_generative else self._epochs or n_passes, heads

    def _part(self, name: str, settings: Figures, make: Callable[[Progress], Figures]) -> Figures:
        def shown() -> Figures:
            with _Line(name) as line:
                return make(line.show)

        return self._parts.get(name, fingerprint([], {"trees": self._checksum, **settings}), shown)


class _Line:
    """The progress of a part on a terminal, and finally a line with its time."""

    def __init__(self, name: str):
        self._name, self._started = name, time.perf_counter()
        self._bar = progress_bar(bar_format="{desc}")

    def show(self, what: str, done: int, total: int) -> None:
        """Show how much of the part is done."""
        self._bar.set_description_str(f"{self._name}: {what}, {done:,}/{total:,}")

    def __enter__(self) -> _Line:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._bar.close()
        if kind is None:
            print(f"{self._name}  {time.perf_counter() - self._started:.1f} s", file=sys.stderr, flush=True)


def _best(figures: Sequence[float], values: Sequence[Any]) -> tuple[Any, Any]:
    """Return the first value with the highest figure, and the figure; (None, None) if there are none."""
    return max(zip(figures, values, strict=True), key=lambda pair: pair[0], default=(None, None))


def _weight(config: Config) -> str:
    weight = getattr(config, "train_generative_weight", 0)
    return f", weight {weight:g}" if weight else ""
