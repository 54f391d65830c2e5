"""Score parsed Docs for spaCy's training and evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Any

from spacy.tokens import Doc
from spacy.training import Example

from spacy_incparse.documents.storage import anchored_trees
from spacy_incparse.evaluation.characters import PlacedTree, TextScores, score_texts

KEYS = ("const_p", "const_r", "const_f", "const_exact", "tag_acc")


def create_const_scorer() -> Callable[..., dict[str, Any]]:
    """Return `const_score`, for `@scorers = "spacy_incparse.const_scorer.v1"` in a config."""
    return const_score


def const_score(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """Return EVALB's labeled precision, recall and F, complete match and tagging accuracy as fractions.

    The keys are const_p, const_r, const_f, const_exact and tag_acc; all are None if no example has a gold tree.
    Punctuation is ignored as in COLLINS.prm, based on the gold tags. spaCy passes `kwargs` to every scorer; they have
    no effect here.
    """
    scores = score_examples(examples)
    if scores is None:
        return dict.fromkeys(KEYS)
    figures = scores.to_dict()
    return {key: figures[key] for key in KEYS}


def score_examples(examples: Iterable[Example]) -> TextScores | None:
    """Return the scores of the trees of the predicted Docs, by characters; None if no example has a gold tree.

    Tokens and sentence boundaries that differ from the gold ones are therefore not errors in themselves. A Doc without
    trees counts as having found no phrases.
    """
    gold, parsed = [], []
    for example in examples:
        expected = placed_trees(example.reference)
        if expected:
            gold.append(expected)
            parsed.append(placed_trees(example.predicted))
    return score_texts(gold, parsed) if gold else None


def placed_trees(doc: Doc) -> list[PlacedTree]:
    """Return the Doc's trees with the offsets of their words, counted in non-whitespace characters.

    This makes gold trees with unknown spaces comparable with the trees of a text.
    """
    ink = [0, *accumulate(not character.isspace() for character in doc.text)]
    return [
        PlacedTree(
            found.tree,
            [ink[found.start_char + start] for start in found.char_starts],
            [ink[found.start_char + end] for end in found.char_ends],
        )
        for found in anchored_trees(doc)
    ]
