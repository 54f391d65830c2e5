"""Trainings of parsers on few trees: what they report and make, and whether they go on after an interruption."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from spacy_incparse.training.loop import train_parser
from spacy_incparse.trees.heads import HeadRules

HEADS = HeadRules.from_name("en")
SETTINGS = {"heads": HEADS, "n_folds": 2, "tagger_settings": {"n_epochs": 1}, "max_epochs": 2, "seed": 3}


class Training(NamedTuple):
    """Of each pass its report, tagger (None without one) and parser, and both as bytes."""

    reports: list[Any]
    models: list[tuple[Any, Any]]
    stored: list[tuple[bytes | None, bytes]]


def train(trees, config, state_dir: Path | None = None, *, dev=(), **more) -> Training:
    """Train with `SETTINGS` and more."""
    made = Training([], [], [])

    def note(report, tagger, parser):
        made.reports.append(report)
        made.models.append((tagger, parser))
        made.stored.append(tuple(one and one.to_bytes() for one in (tagger, parser)))

    train_parser(trees, dev, config=config, state_dir=state_dir, on_pass=note, **(SETTINGS | more))
    return made


def interrupt(at: str, more_than: int = -1) -> Callable[[str, int, int], None]:
    """Return what a training is told its progress by, so that it is interrupted within one of its parts."""

    def progress(what, done, total):
        if what == at and done > more_than:
            raise KeyboardInterrupt

    return progress


def check_resumed(folder: Path, trees, config, expected: Training, *, at: str, more_than: int = -1, **more) -> Training:
    """Interrupt a training, and resume it: the passes that are left make what they make without an interruption."""
    with pytest.raises(KeyboardInterrupt):
        train(trees, config, folder, progress=interrupt(at, more_than), **more)
    resumed = train(trees, config, folder, resume=True, **more)
    n_done = int(at.removeprefix("pass ")) - 1 if at.startswith("pass ") else 0
    assert resumed.stored == expected.stored[n_done:]
    assert [report.number for report in resumed.reports] == [report.number for report in expected.reports[n_done:]]
    return resumed
