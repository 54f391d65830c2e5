"""Compare two recipes with a paired bootstrap, on the trees saved by `accuracy.py --trees FOLDER`.

    python benchmarks/gains.py wsj acc-wsj-predicted-rich acc-wsj-predicted-accurate --trees FOLDER

A sample has as many sentences as the dev part, drawn with replacement, each with the brackets of all seeds together. It
thus reflects random variation both in training and between sentences. The row is named `gain-...-to-...`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import common
from results import Table, percent, publish, spread

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.brackets import COLLINS
from spacy_incparse.evaluation.evalb import compare, score_trees
from spacy_incparse.evaluation.summaries import SKIPPED, VALID, LabelCounts, Scores, SentenceScore
from spacy_incparse.treebanks.reader import read_trees

TABLE = Table("Gains", ("F before", "F after", "gain", "gain by seed", "95 %", "p", "sentences", "samples"))
N_SAMPLES = 10_000


def main(argv: Sequence[str] | None = None) -> None:
    """Compare two rows of one treebank, seed by seed and in all."""
    arguments = _arguments(argv)
    gold = common.read_part(arguments, arguments.bank, "dev")
    paths = [_kept(arguments.trees, row) for row in arguments.rows]
    if paths[0].keys() != paths[1].keys():
        seeds = (", ".join(map(str, row)) for row in paths)
        raise IncparseError(
            "{}: the seeds {} against {}: both rows must have the same seeds".format(arguments.trees, *seeds)
        )
    before, after = ([score_trees(gold, read_trees([path])) for path in row.values()] for row in paths)
    first, second = (row.removeprefix(f"acc-{arguments.bank}-") for row in arguments.rows)
    rows = {f"gain-{arguments.bank}-{first}-to-{second}": gain_cells(before, after)}
    publish(TABLE, rows, common.results_file(arguments), seed=",".join(map(str, paths[0])), argv=argv)


def gain_cells(before: Sequence[Scores], after: Sequence[Scores]) -> list[str]:
    """Return the cells of a row for scores on the same trees, one of each side for each seed."""
    found = compare(_joined(before), _joined(after), n=N_SAMPLES)
    gains = [100 * (b.all.f - a.all.f) for a, b in zip(before, after, strict=True)]
    return [
        percent(mean(scores.all.f for scores in before)),
        percent(mean(scores.all.f for scores in after)),
        f"{mean(gains):+.2f}",
        spread(gains, "{:+.2f}"),
        spread([100 * found.low, 100 * found.high], "{:+.2f}"),
        f"{found.p_value:.4f}",
        str(len(after[0].per_sentence)),
        str(N_SAMPLES),
    ]


def _kept(folder: Path, row: str) -> dict[int, Path]:
    """Return the trees of a row by seed."""
    paths = {int(path.suffixes[-2][1:]): path for path in folder.glob(f"{row}.*.mrg")}
    if not paths:
        raise IncparseError(f"{folder} has no trees of {row}: run accuracy.py with --trees {folder}")
    return dict(sorted(paths.items()))


def _joined(runs: Sequence[Scores]) -> Scores:
    """Return the sums of the counts of all seeds, sentence by sentence."""
    sentences = [_sum(scores) for scores in zip(*(run.per_sentence for run in runs), strict=True)]
    return Scores.of(sentences, LabelCounts(), COLLINS)


def _sum(sentences: Sequence[SentenceScore]) -> SentenceScore:
    if any(sentence.status != VALID for sentence in sentences):
        return SentenceScore(sentences[0].length, SKIPPED)
    counts = ("n_matched", "n_gold", "n_parsed")
    return SentenceScore(
        sentences[0].length, **{name: sum(getattr(sentence, name) for sentence in sentences) for name in counts}
    )


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__)
    parser.add_argument("bank", help="name of the treebank: wsj, gum, craft, or sample")
    parser.add_argument("rows", nargs=2, metavar="ROW", help="names of two rows of accuracy.py, the better one last")
    parser.add_argument("--trees", type=Path, required=True, metavar="FOLDER", help="where accuracy.py saved them")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
