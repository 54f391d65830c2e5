"""Load a trained pipeline, and parse and score the words of a treebank."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import common  # noqa: F401  before spaCy
from spacy.language import Language
from spacy.tokens import Doc

import spacy_incparse
from spacy_incparse.data import find_pipeline
from spacy_incparse.documents.storage import anchored_trees
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.trees.tree import Tree


def open_pipeline(model: str, search: dict[str, Any] | None = None) -> Language:
    """Return an embedded pipeline by its name, or another one by its folder; `search`: other search settings."""
    return spacy_incparse.load(model, config={"components": {"incparse": {"search": search}}} if search else {})


def short_name(model: str) -> str:
    """Return a name for rows: the embedded pipeline's, or that of a folder."""
    return Path(model).name


def folder_bytes(model: str) -> int:
    """Return the total size of a pipeline's files."""
    return sum(path.stat().st_size for path in find_pipeline(model).rglob("*") if path.is_file())


def sentence_docs(nlp: Language, trees: Sequence[Tree], n_sents: int = 1) -> list[Doc]:
    """Return Docs with the words of so many trees each, marked as sentences."""
    groups = [trees[first : first + n_sents] for first in range(0, len(trees), n_sents)]
    return [
        Doc(
            nlp.vocab,
            words=[word for tree in group for word in tree.words],
            sent_starts=[i == 0 for tree in group for i in range(len(tree.words))],
        )
        for group in groups
    ]


def word_docs(nlp: Language, trees: Sequence[Tree]) -> list[Doc]:
    """Return a Doc with the words of each tree and no annotations."""
    return [Doc(nlp.vocab, words=list(tree.words)) for tree in trees]


def parsed_trees(nlp: Language, docs: Sequence[Doc]) -> list[Tree]:
    """Return the trees that a pipeline finds for one-sentence Docs."""
    return [anchored.tree for doc in nlp.pipe(docs) for anchored in anchored_trees(doc)]


def score_docs(gold: Sequence[Tree], docs: Sequence[Doc]) -> dict[str, Any]:
    """Return the scores of parsed Docs: EVALB's figures (fractions), `flat` and `relaxed` sentences."""
    found = [anchored for doc in docs for anchored in anchored_trees(doc)]
    sources = [anchored.source for anchored in found]
    scores = score_trees(gold, [anchored.tree for anchored in found]).to_dict()
    return scores | {"flat": sources.count("flat"), "relaxed": sources.count("relaxed")}
