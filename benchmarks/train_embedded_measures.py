"""Train the embedded model for measures: `python benchmarks/train_embedded_measures.py SOURCES PARSED`.

SOURCES is the folder of `embedded_sources.py`, PARSED that of `embedded_teacher.py`: see docs/english.md. It learns
from GUM, MASC and the parsed text. No dev file is used: the minimum frequency of contexts (`context_min_count`) is
chosen by the surprisal of words in held-out trees of GUM, among models of at most 4 MB.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import common
from train_embedded import META, OUTPUT, blank_english, heads, read_folder, save_with_card

from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.generative.parser import GenerativeParser
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.tree import Tree

MAX_BYTES = 4 * common.MEGABYTE
MIN_COUNTS = (1, 2, 3)
N_HELD_OUT = 220  # sentences: those of GUM
SEARCH = {"beam_size": 200, "gamma": 1e-12}  # wide enough for comparing models


def main() -> None:
    """Choose, train, write the pipeline."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("sources", type=Path, help="folder of embedded_sources.py")
    arguments.add_argument("parsed", type=Path, help="folder of embedded_teacher.py")
    arguments.add_argument("--output", type=Path, default=OUTPUT.with_name("en_generative"))
    arguments.add_argument("--context-min-count", type=int, help="do not choose: use this value")
    given = arguments.parse_args()
    trees = [*read_treebank(given.sources / "gold.mrg"), *read_folder(given.parsed)]
    held_out = read_treebank(given.sources / "held-out.mrg")[:N_HELD_OUT]
    least = given.context_min_count or choose(trees, held_out)
    parser = GenerativeParser.train(trees, GenerativeConfig(context_min_count=least), heads())
    write(parser, given.output, f"{len(trees)} trees, context_min_count {least}.")


def choose(trees: list[Tree], held_out: list[Tree]) -> int:
    """Return the setting with the lowest surprisal of the held-out sentences."""
    found = {}
    for least in MIN_COUNTS:
        parser = GenerativeParser.train(trees, GenerativeConfig(context_min_count=least), heads())
        n_bytes, bits, f = len(parser.to_bytes()), bits_per_word(parser, held_out), accuracy(parser, held_out)
        print(f"context_min_count {least}: {n_bytes:,} bytes, {bits:.4f} bits per word, F {100 * f:.2f}", flush=True)
        if n_bytes <= MAX_BYTES:
            found[least] = bits
    return min(found, key=lambda least: found[least])


def bits_per_word(parser: GenerativeParser, trees: list[Tree]) -> float:
    """Return the mean surprisal of the words of trees."""
    found = [word.surprisal for tree in trees for word in parser.measures(tree.words, **SEARCH)]
    return sum(bits for bits in found if bits is not None) / len(found)


def accuracy(parser: GenerativeParser, trees: list[Tree]) -> float:
    """Return the F of the parser's own trees."""
    return score_trees(trees, [parser.parse(tree.words).tree for tree in trees]).to_dict()["const_f"]


def write(parser: GenerativeParser, folder: Path, notes: str) -> None:
    """Save a pipeline with the parser, which computes the measures of all words."""
    nlp = blank_english()
    component = nlp.add_pipe(
        "incparse", config={"set_tags": True, "noun_chunks": True, "measures": True, "training": {"kind": "generative"}}
    )
    component.model.set_weights(None, parser)
    description = "English generative model for measures word by word, trained on GUM and parsed text"
    nlp.meta.update(META | {"name": "incparse_generative", "description": description, "notes": notes})
    save_with_card(nlp, folder)


if __name__ == "__main__":
    main()
