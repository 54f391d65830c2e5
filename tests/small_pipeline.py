from pathlib import Path

import spacy
from spacy.language import Language

from spacy_incparse.pipeline.registered import TreebankReader

ASSETS = Path(__file__).parents[1] / "assets"
SMALL = {"features": "paper", "n_folds": 3, "tagger": {"n_epochs": 3}, "table_bits": 16, "train_beam_size": 8}


def pipeline(name: str = "incparse", **config) -> Language:
    """Return a pipeline of the sentencizer and a component."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe(name, config=config)
    return nlp


def untrained(**config) -> Language:
    """Return a pipeline whose component learns fast and little."""
    return pipeline(**{"training": SMALL, "search": {"beam_size": 8, "gamma": None}, **config})


def train(nlp: Language, n_passes: int, limit: int = 0) -> list[dict[str, float]]:
    """Initialize the pipeline on the sample treebank, make some passes; return the losses of each."""
    reader = TreebankReader(ASSETS / "sample-train.mrg", limit=limit)
    nlp.initialize(lambda: reader(nlp))
    examples = list(reader(nlp))
    return [nlp.update(examples, losses={}) for _ in range(n_passes)]
