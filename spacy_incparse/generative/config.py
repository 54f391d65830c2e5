"""All settings of a generative parser, with defaults that suit most uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spacy_incparse.errors import ConfigError
from spacy_incparse.generative.templates import nested_sets
from spacy_incparse.incremental.config import CONJUNCTIONS
from spacy_incparse.parsing.choice import CHOICE_SETTINGS, ChoiceSettings
from spacy_incparse.settings import MOST, check_number, check_range, checked_labels


@dataclass(frozen=True, kw_only=True)
class GenerativeConfig(ChoiceSettings):
    """Settings of a generative parser. The search settings can be changed after training; the others belong to the
    model.

    sets: a named choice of conditioning sets, see generative/templates.py.
    conjunctions: labels that link conjuncts.
    chain_min_count, triple_min_count: grammar cut-offs, as in the other parsers.
    known_min_count: words seen less often are unknown, and are generated as classes of shape and ending.
    class_min_count: classes seen less often are merged into more general ones.
    context_min_count: contexts seen less often are dropped to make the model smaller.
    beam_size: maximum number of hypotheses to keep after a word; 0: all.
    gamma: the filter of Roark (2001): a hypothesis is kept if p(h) > p(best) gamma |H|^3, where H are the better ones;
        0 or None: off.
    measures_beam_size: beam_size for measures, which are sums over the beam and need a wider beam than the best tree
        does.
    measures_log10_gamma: gamma for measures, as a decimal logarithm, because spaCy's config files cannot hold such
        small numbers; None: off.
    choose, choose_from, choose_trees, choose_temperature, choose_threshold: as in the other parsers.
    """

    SEARCH = ("beam_size", "gamma", "measures_beam_size", "measures_log10_gamma", *CHOICE_SETTINGS)

    sets: str = "paper"
    conjunctions: Sequence[str] = CONJUNCTIONS
    chain_min_count: int = 1
    triple_min_count: int = 1
    known_min_count: int = 2
    class_min_count: int = 20
    context_min_count: int = 1
    beam_size: int = 100
    gamma: float | None = 1e-10
    measures_beam_size: int = 2000
    measures_log10_gamma: float | None = -16.5
    choose: str = "expected_f"
    choose_from: str | None = "search"
    choose_temperature: float | None = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.sets, str):
            raise ConfigError(f"sets is {self.sets!r}: it must be the name of conditioning sets")
        nested_sets(self.sets)
        for name, least in _LEAST.items():
            check_number(name, getattr(self, name), least, MOST)
        for name, (lowest, highest) in _RANGES.items():
            check_range(name, getattr(self, name), lowest, highest, may_be_none=name in _MAY_BE_NONE)
        object.__setattr__(self, "conjunctions", checked_labels("conjunctions", self.conjunctions))

    def measures_filter(self, beam_size: int | None = None, gamma: float | None = None) -> tuple[int, float]:
        """Return beam_size and gamma for measures.

        If beam_size differs from the setting, gamma changes too unless it is given, so that the last hypothesis of a
        full beam has to meet the same condition as by default. A beam_size of 0 keeps everything and has no gamma.
        Raises ConfigError for a beam_size below 0, and for a gamma that is not a number from 0 to 1.
        """
        default = self.measures_beam_size
        beam_size = default if beam_size is None else beam_size
        check_number("beam_size", beam_size, 0, MOST)
        if gamma is not None:
            check_range("gamma", gamma, *_RANGES["gamma"])
            return beam_size, gamma
        if not beam_size or self.measures_log10_gamma is None:
            return beam_size, 0.0
        own = 10.0**self.measures_log10_gamma
        return beam_size, min(own * (default / beam_size) ** 3, 0.1) if default else own


_LEAST = {
    "chain_min_count": 1, "triple_min_count": 1, "known_min_count": 1, "class_min_count": 1, "context_min_count": 1,
    "beam_size": 0, "measures_beam_size": 0,
}  # fmt: skip
_RANGES = {"gamma": (0.0, 1.0), "measures_log10_gamma": (-300.0, 0.0)}
_MAY_BE_NONE = ("gamma", "measures_log10_gamma")
