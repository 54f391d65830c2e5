"""A small combination, trained on the sample treebank."""

from pathlib import Path

from spacy_incparse.parsing.combined_kind import COMBINED, CombinedConfig
from spacy_incparse.training.loop import train_parser
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.heads import HeadRules

ASSETS = Path(__file__).parents[2] / "assets"
SMALL = {"recipe": "paper", "table_bits": 16, "train_beam_size": 8, "beam_size": 8, "max_epochs": 2}
SEVERAL = SMALL | {"n_tags": 2, "max_epochs": 1, "n_models": 2}
CHART = {"table_bits": 14, "max_epochs": 1}
MEMBERS = {"several": SEVERAL, "one": SMALL, "generative": {}, "chart": CHART}
HEADS = HeadRules.from_name("en")
SETTINGS = {"heads": HEADS, "n_folds": 2, "tagger_settings": {"n_epochs": 2}, "seed": 3}


def sample(n=100):
    return read_treebank(ASSETS / "sample-train.mrg")[:n]


def run(trees, config, kind=COMBINED, max_epochs=2, dev=(), **more):
    """Train; return the parser of the best pass (without `dev`, the last), and its tagger."""
    found = []

    def keep(report, tagger, parser):
        if report.is_best:
            found[:] = [parser, tagger]

    train_parser(trees, dev, kind=kind, config=config, max_epochs=max_epochs, on_pass=keep, **(SETTINGS | more))
    return found


def small_config(**settings):
    return CombinedConfig(**({"members": MEMBERS, "list_size": 20} | settings))
