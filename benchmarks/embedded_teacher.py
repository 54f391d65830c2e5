"""Make the teacher of the embedded English pipelines: a neural and a linear parser that answer together.

    python benchmarks/embedded_teacher.py NEURAL LINEAR OUT

NEURAL is a pipeline of `train --config neural`, LINEAR one with `incparse`, such as `en_accurate`. docs/english.md says
how they are trained, and what OUT is for.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from combiner_accuracy import combined

# Lower than the combiner's default: a phrase that is uncertain is better than none, for those who learn from the trees.
THRESHOLD = 0.35


def main() -> None:
    """Save the pipeline, in which only the combiner parses."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("neural", help="folder of a pipeline with incparse_neural")
    arguments.add_argument("linear", help="name or folder of a pipeline with incparse")
    arguments.add_argument("output", type=Path)
    arguments.add_argument("--weight", type=float, default=1.0, help="of the neural parser; default: 1")
    arguments.add_argument("--threshold", type=float, default=THRESHOLD, help=f"default: {THRESHOLD}")
    given = arguments.parse_args()
    nlp, members = combined([given.neural, given.linear], [given.weight, 1.0], given.threshold)
    for name in members:
        nlp.disable_pipe(name)
    nlp.to_disk(given.output)


if __name__ == "__main__":
    main()
