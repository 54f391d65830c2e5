"""All settings of a generative parser, with defaults that suit most uses."""

from __future__ import annotations

from dataclasses import dataclass

from spacy_incparse.parsing.choice import CHOICE_SETTINGS, ChoiceSettings
from spacy_incparse.settings import MOST, check_number, check_range


@dataclass(frozen=True, kw_only=True)
class GenerativeConfig(ChoiceSettings):
    """Settings of a generative parser. The search settings can be changed after training; the others belong to the
    model.

    context_min_count: contexts seen less often are dropped to make the model smaller.
    beam_size: maximum number of hypotheses to keep after a word; 0: all.
    gamma: the filter of Roark (2001): a hypothesis is kept if p(h) > p(best) gamma |H|^3, where H are the better ones;
        0 or None: off.
    measures_beam_size: beam_size for measures, which are sums over the beam and need a wider beam than the best tree
        does.
    choose, choose_from, choose_trees, choose_temperature, choose_threshold: as in the other parsers.
    """

    SEARCH = ("beam_size", "gamma", "measures_beam_size", *CHOICE_SETTINGS)

    context_min_count: int = 1
    beam_size: int = 100
    gamma: float | None = 1e-10
    measures_beam_size: int = 2000
    choose: str = "expected_f"
    choose_from: str | None = "search"
    choose_temperature: float | None = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("context_min_count", 1), ("beam_size", 0), ("measures_beam_size", 0)):
            check_number(name, getattr(self, name), least, MOST)
        check_range("gamma", self.gamma, 0.0, 1.0, may_be_none=True)

    def measures_filter(self, beam_size: int | None = None, gamma: float | None = None) -> tuple[int, float]:
        """Return beam_size and gamma for measures.

        The default gamma is 10**-16.5 for 2,000 hypotheses, and such for other numbers that the last hypothesis of a
        full beam has to meet the same condition. A beam_size of 0 keeps everything and has no gamma. Raises ConfigError
        for a beam_size below 0, and for a gamma that is not a number from 0 to 1.
        """
        beam_size = self.measures_beam_size if beam_size is None else beam_size
        check_number("beam_size", beam_size, 0, MOST)
        if gamma is not None:
            check_range("gamma", gamma, 0.0, 1.0)
            return beam_size, gamma
        return beam_size, min(10**-16.5 * (2000 / beam_size) ** 3, 0.1) if beam_size else 0.0
