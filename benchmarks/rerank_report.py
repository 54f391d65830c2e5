"""The results of `reranking.py` as text, as a picture, and as cells of results.tsv."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paper_report import table_text
from parts import Figures
from results import percent

from spacy_incparse.evaluation.evalb import Bootstrap
from spacy_incparse.evaluation.summaries import Scores, Summary
from spacy_incparse.viz.plot import plot

# Collins (2000), table 3, section 23: recall, precision, crossing brackets, without any, with at most two.
PAPER = {
    "up to 40 words": {"base": (88.5, 88.7, 0.92, 66.7, 87.1), "boosting": (90.1, 90.4, 0.73, 70.7, 89.6)},
    "all": {"base": (88.1, 88.3, 1.06, 64.0, 85.1), "boosting": (89.6, 89.9, 0.87, 68.3, 87.7)},
}
COLUMNS = ("LR", "LP", "CBs", "0 CBs", "2 CBs")


@dataclass(frozen=True)
class Line:
    """What was chosen from the dev part's lists.

    gain: of F against the parser's most probable trees of the same lists. over_expected_f: the difference from their
    trees of best expected F. train: the gain in cross-validation. settings: what it chose, as text.
    """

    name: str
    title: str
    scores: Scores
    gain: Bootstrap | None = None
    over_expected_f: float | None = None
    train: float | None = None
    settings: str = "-"

    @property
    def cells(self) -> list[str]:
        """The figures of a row of results.tsv."""
        all_cells, short_cells = summary_cells(self.scores.all), summary_cells(self.scores.up_to_40)
        gain = ["-"] * 3
        over = "-" if self.over_expected_f is None else points(self.over_expected_f)
        if self.gain:
            low, high = 100 * self.gain.low, 100 * self.gain.high
            gain = [points(self.gain.difference), f"{low:+.2f} - {high:+.2f}", f"{self.gain.p_value:.4f}"]
        train = "-" if self.train is None else points(self.train)
        summary = self.scores.all
        exact, n_short = percent(summary.exact), str(self.scores.up_to_40.n_valid)
        return [
            percent(summary.f), *gain, over, train, *all_cells, exact,
            percent(self.scores.up_to_40.f), *short_cells, n_short, self.settings,
        ]  # fmt: skip


def summary_cells(summary: Summary) -> list[str]:
    """Return the columns of table 3."""
    return [
        percent(summary.recall),
        percent(summary.precision),
        f"{summary.avg_crossing:.2f}",
        percent(summary.no_crossing),
        percent(summary.two_or_less_crossing),
    ]


def points(difference: float) -> str:
    """Return a difference of fractions in percentage points."""
    return f"{100 * difference:+.2f}"


def table_3(lines: Sequence[Line]) -> str:
    """Return table 3: all lines, for short sentences and for all, with the paper's."""
    texts = []
    for length, paper in PAPER.items():
        rows = [["", *COLUMNS, "F"]]
        for line in lines:
            summary = line.scores.all if length == "all" else line.scores.up_to_40
            rows.append([line.title, *summary_cells(summary), percent(summary.f)])
        for name, figures in paper.items():
            rows.append([f"paper: {name}", *(f"{figure:g}" for figure in figures), ""])
        n = lines[0].scores.all.n_valid if length == "all" else lines[0].scores.up_to_40.n_valid
        texts.append(table_text(f"Table 3, sentences: {length} ({n:,} here)", rows, n_names=1))
    return "\n\n".join(texts)


def gains_text(lines: Sequence[Line]) -> str:
    """Return the gains in F on both parts, and what cross-validation chose."""
    rows = [["", "cross-validation", "dev part", "95 %", "p", "over best expected F", "chosen"]]
    for line in lines:
        _, gain, interval, p, over, train, *_ = line.cells
        rows.append([line.title, train, gain, interval, p, over, line.settings])
    return table_text("Gain in F over the most probable trees of the same lists", rows, n_names=1)


def rounds_text(curves: Mapping[str, Mapping[int, float]]) -> str:
    """Return gains by round as numbers, a column for each name."""
    rounds = sorted(set().union(*curves.values()))
    rows = [["round", *curves]]
    for number in rounds:
        rows.append([f"{number:,}", *(points(c[number]) if number in c else "" for c in curves.values())])
    return table_text("Gain in F by round", rows, n_names=1)


def rounds_svg(curves: Mapping[str, Mapping[int, float]]) -> str:
    """Return gains by round as a picture."""
    rounds = sorted(set().union(*curves.values()))
    series = {name: [100 * c[number] if number in c else None for number in rounds] for name, c in curves.items()}
    names = [str(number) for number in rounds]
    return plot(names, series, style="line", title="Gain in F by round", unit="F", from_zero=False, width=None)


def families_text(gains: Mapping[str, Figures]) -> str:
    """Return the families alone, with the numbers of their features."""
    rows = [["features", "number", "cross-validation", "dev part"]]
    rows += [[name, f"{found['n']:,}", points(found["train"]), points(found["dev"])] for name, found in gains.items()]
    return table_text("Gain in F by the features of one family, or group of families, alone", rows, n_names=1)


def costs_text(costs: Mapping[str, Figures], sizes: Figures) -> str:
    """Return the costs of the algorithms, for a round."""
    rows = [["algorithm", "rounds", "additions a round", "ms a round", "times boosting (table 2)"]]
    for name, found in costs.items():
        ratio = per_round(found, "seconds") / per_round(costs["efficient"], "seconds")
        additions, ms = per_round(found, "additions"), 1000 * per_round(found, "seconds")
        rows.append([name, f"{found['rounds']:,}", f"{additions:,.0f}", f"{ms:.3f}", f"{ratio:.1f}"])
    title = (
        f"{sizes['sentences']:,} sentences, {sizes['trees']:,} trees, {sizes['features']:,} features, "
        f"{sizes['b']:.0f} of them differ in a pair"
    )
    return table_text(title, rows, n_names=1)


def per_round(cost: Figures, key: str) -> float:
    """Return a cost for each round."""
    return cost[key] / max(cost["rounds"], 1)
