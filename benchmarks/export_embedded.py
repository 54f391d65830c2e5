"""Export the embedded neural pipeline: docs/english.md says how the parser is trained.

    python benchmarks/export_embedded.py NEURAL

NEURAL is a pipeline of `train --config neural --encoder FOLDER`. `train_splitter.py` adds the splitter.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from train_embedded import CRAFT, ENCODERS, GUM, MASC, META, OUTPUT, PARSED, blank_english, save_with_card

import spacy_incparse
from spacy_incparse.cli.export import export_command

NAME = "incparse_neural"
THRESHOLD = 0.4  # the best F on held-out trees, with as many phrases as gold trees have


def main() -> None:
    """Write the pipeline."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("neural", help="folder of the pipeline")
    arguments.add_argument("--output", type=Path, default=OUTPUT.with_name("en_neural"))
    given = arguments.parse_args()
    with TemporaryDirectory() as folder:
        export_command(given.neural, Path(folder) / "exported", int8=True)
        trained = spacy_incparse.load(Path(folder) / "exported")
    nlp = blank_english()
    # not `source=trained`, which would bring all words that were seen in training
    settings = {name: value for name, value in trained.get_pipe_config(NAME).items() if name != "factory"}
    settings |= {"noun_chunks": True, "search": {"threshold": THRESHOLD}}
    nlp.add_pipe(NAME, config=settings).from_bytes(trained.get_pipe(NAME).to_bytes(exclude=["vocab"]))
    encoder = ENCODERS[1] | {"name": "all-MiniLM-L6-v2 (encoder, trained further)"}
    what = "English constituency parser (tagger and trees) on a small transformer, trained on treebanks and parsed text"
    own = {"name": f"{META['name']}_neural", "version": "0.5.0", "description": what}
    nlp.meta.update(META | own | {"sources": [GUM, MASC, CRAFT, *PARSED, encoder, ENCODERS[0]]})
    save_with_card(nlp, given.output)


if __name__ == "__main__":
    main()
