"""The paper's tables and figure as text and picture, with its own results next to ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from paper_sides import GOLD, N_TREES, OWN, PREDICTED, Config
from paper_study import Result
from results import percent, spread

from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.incremental.coverage import ChainRow, GrammarTable
from spacy_incparse.viz.plot import plot

# Of Collins & Roark (2004), on the whole Penn Treebank: trained on sections 2-21, tables 3 and 4 on section 23.
PAPER_SCORES = {
    (GOLD, "generative"): (88.1, 87.6, 87.8),
    (GOLD, "perceptron"): (87.5, 86.9, 87.2),
    (GOLD, "punctuation"): (88.1, 87.6, 87.8),
    (PREDICTED, "generative"): (86.8, 86.5, 86.7),
    (PREDICTED, "perceptron"): (86.2, 85.5, 85.8),
    (PREDICTED, "punctuation"): (87.0, 86.3, 86.6),
    (PREDICTED, "hybrid"): (89.1, 88.4, 88.8),
    (OWN, "generative"): (None, None, 87.0),  # footnote 4
}
# Table 1, by transform and tags: types in section 24, types in sections 2-21, unseen, types seen twice, unseen.
PAPER_CHAINS = {
    ("none", GOLD): (386, 1680, "0.1%", 1013, "0.1%"),
    ("none", PREDICTED): (401, 1776, "0.1%", 1043, "0.2%"),
    ("left corner", GOLD): (289, 1214, "0.1%", 746, "0.1%"),
    ("left corner", PREDICTED): (300, 1294, "0.1%", 781, "0.1%"),
}
# The comparisons, and the differences in the paper by kind of tags.
GAINS: dict[str, tuple[str, dict[str, float]]] = {
    "punctuation": ("features of punctuation", {GOLD: 0.6, PREDICTED: 0.8}),
    "hybrid": ("the hybrid over the better of its parts", {PREDICTED: 2.1}),
    "hybrid-risk": ("the same with the trees of the best expected F", {}),
    "early": ("early update over none", {}),
    "repeated": ("repeated use of hypotheses over early update alone", {}),
}


@dataclass(frozen=True)
class Gain:
    """The difference between two sides; `name` is one of `GAINS`."""

    name: str
    result: Result
    other: Result

    @property
    def title(self) -> str:
        """The description of the comparison."""
        return GAINS[self.name][0]

    @property
    def figures(self) -> tuple[str, str]:
        """The mean difference of F, and its range over the seeds."""
        gains = [100 * gain for gain in self.result.gains(self.other)]
        return f"{mean(gains):+.2f}", f"{min(gains):+.2f} to {max(gains):+.2f}"

    @property
    def paper(self) -> str:
        """The difference in the paper, if it reports one."""
        figure = GAINS[self.name][1].get(self.result.kind)
        return "-" if figure is None else f"{figure:+.1f}"


def chain_key(row: ChainRow) -> tuple[str, str]:
    """Return the transform and the kind of tags of a row of table 1."""
    return row.transform, GOLD if row.tags == "gold" else PREDICTED


def chain_cells(row: ChainRow) -> list[str]:
    """Return the figures of a row of table 1 in the paper's order."""
    unseen = ["-" if share is None else f"{share:.2%}" for share in (row.unseen, row.unseen_pruned)]
    return [str(row.held_out_types), str(row.n_types), unseen[0], str(row.n_repeated_types), unseen[1]]


def chains_text(table: GrammarTable) -> str:
    """Return table 1."""
    columns = ("dev types", "types", "unseen", "seen 2+", "unseen")
    lines = [["transform", "tags", *columns, *(f"paper: {columns[0]}", *columns[1:])]]
    for row in table.rows:
        key = chain_key(row)
        lines.append([*key, *chain_cells(row), *map(str, PAPER_CHAINS[key])])
    title = "Table 1: types of left-child chains longer than two, root and tag counted; dev words with an unseen chain"
    return table_text(title, lines, n_names=2)


def scores_text(title: str, results: Sequence[Result]) -> str:
    """Return table 3 or 4, followed by the settings of each side; the paper has no trees of the best expected F."""
    n_seeds = max(len(result.runs) for result in results)
    lines = [["tags", "model", "LP", "LR", "F", "range of F", "paper: LP", "LR", "F"]]
    chosen = [["tags", "model", "passes", "search", "weight", "held-out F"]]
    for result in results:
        names = [result.kind, result.side.title + ", best expected F" * result.risk]
        paper = PAPER_SCORES.get((result.kind, result.side.name * (not result.risk)), (None, None, None))
        figures = [percent(result.mean(key)) for key in ("const_p", "const_r", "const_f")]
        lines.append([*names, *figures, f_range(result), *("-" if figure is None else str(figure) for figure in paper)])
        config, n_passes = result.choice.config, str(result.choice.n_passes)
        chosen.append([*names, n_passes, search_text(result), weight_text(config), held_out_text(result)])
    seeds = "one seed" if n_seeds == 1 else f"means of {n_seeds} seeds"
    return "\n\n".join(
        [
            table_text(f"{title}: dev part, all sentences, {seeds}", lines, n_names=2),
            table_text("chosen on a tenth of the train part, without the dev part", chosen, n_names=2),
        ]
    )


def gains_text(gains: Sequence[Gain]) -> str:
    """Return the differences in F between two sides, next to the paper's."""
    lines = [["difference in F", "tags", "here", "range", "paper"]]
    lines += [[gain.title, gain.result.kind, *gain.figures, gain.paper] for gain in gains]
    return table_text("What a part of the method gives", lines, n_names=2)


def curves_text(results: Sequence[Result]) -> str:
    """Return figure 5 as numbers; a star marks the pass chosen on held-out trees."""
    lines = [["pass", *(result.side.curve for result in results)]]
    for number, figures in enumerate(zip(*(result.curve for result in results), strict=True), 1):
        stars = ["*" if result.choice.n_passes == number else " " for result in results]
        lines.append([str(number), *(percent(f) + star for f, star in zip(figures, stars, strict=True))])
    title = "Figure 5: F on the dev part after each pass, gold tags (*: the pass chosen on held-out trees)"
    return table_text(title, lines, n_names=1)


def curves_svg(results: Sequence[Result]) -> str:
    """Return figure 5 as a picture."""
    n_passes = len(results[0].curve)
    return plot(
        [str(number) for number in range(1, n_passes + 1)],
        {result.side.curve: [100 * f for f in result.curve] for result in results},
        style="line",
        title="F on the dev part after each pass",
        unit="F",
        from_zero=False,
        width=None,
    )


def f_range(result: Result) -> str:
    """Return the lowest and the highest F."""
    return spread([100 * run["const_f"] for run in result.runs])


def search_text(result: Result) -> str:
    """Return the search settings to choose from."""
    config = result.choice.config
    gamma = "none" if config.gamma is None else f"{config.gamma:.3g}"
    search = f"gamma={gamma} beam_size={config.beam_size}"
    if not result.risk:
        return search
    return f"{search} choose=expected_f choose_trees={N_TREES} choose_temperature={result.choice.temperature:g}"


def held_out_text(result: Result) -> str:
    """Return the F that the choice was based on."""
    f = result.choice.held_out_risk_f if result.risk else result.choice.held_out_f
    return "-" if f is None else percent(f)


def weight_text(config: Config) -> str:
    """Return the weight of the generative score in training and in the search, if there is one."""
    if isinstance(config, ParserConfig) and config.is_hybrid:
        return f"{config.train_generative_weight:g}/{config.generative_weight:g}"
    return "-"


def table_text(title: str, lines: Sequence[Sequence[str]], *, n_names: int) -> str:
    """Return cells in columns under a title: the first ones left-aligned, figures right-aligned."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = []
    for line in lines:
        names = [cell.ljust(width) for cell, width in zip(line[:n_names], widths, strict=False)]
        figures = [cell.rjust(width) for cell, width in zip(line[n_names:], widths[n_names:], strict=True)]
        rows.append("  ".join([*names, *figures]).rstrip())
    return "\n".join([title, "", *rows])
