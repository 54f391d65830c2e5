"""Project the gold trees of training and test examples onto the pipeline's tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, chain
from weakref import WeakKeyDictionary

from spacy.tokens import Doc
from spacy.training import Example

from spacy_incparse.documents.tree_storage import AnchoredTree, anchored_trees
from spacy_incparse.trees.projection import ink_ends, project
from spacy_incparse.trees.tree import Tree

MAX_LOST = 0.25  # a sentence that loses a larger share of its phrases does more harm than good in training


@dataclass(frozen=True)
class GoldSentences:
    """The usable sentences of an example, and the number of skipped ones."""

    trees: tuple[tuple[int, Tree], ...]  # each with the index of its first word among the words of the predicted Doc
    n_skipped: int


_Source = tuple[tuple[str, ...], list[AnchoredTree]]  # the words of the predicted Doc and the trees of the reference
_cache: WeakKeyDictionary[Doc, tuple[_Source, GoldSentences]] = WeakKeyDictionary()


def gold_sentences(example: Example) -> GoldSentences:
    """Return the gold trees of the example's reference, projected onto the words of its predicted Doc.

    The sentences are those of the reference, because `predicted` usually has none in training. A sentence is skipped if
    it begins or ends inside a predicted token, or loses more than `MAX_LOST` of its phrases. The result is cached by
    reference until its trees change, because spaCy's training loop uses the same reference in each pass.
    """
    words = tuple(token.text for token in example.predicted if not token.is_space)
    source = words, anchored_trees(example.reference)
    known = _cache.get(example.reference)
    if known is None or known[0] != source:
        known = source, _project_all(example.reference, *source)
        _cache[example.reference] = known
    return known[1]


def _project_all(reference: Doc, words: tuple[str, ...], found: list[AnchoredTree]) -> GoldSentences:
    trees = [anchored.tree for anchored in found]
    if tuple(chain.from_iterable(tree.words for tree in trees)) == words:
        firsts = accumulate((len(tree.words) for tree in trees), initial=0)
        return GoldSentences(tuple(zip(firsts, trees, strict=False)), 0)
    kept = tuple(_projected(reference, found, words))
    return GoldSentences(kept, len(found) - len(kept))


def _projected(reference: Doc, found: list[AnchoredTree], words: tuple[str, ...]) -> Iterator[tuple[int, Tree]]:
    """Yield the trees that fit the new words; offsets in the text count all characters except whitespace."""
    ink = [0, *accumulate(not character.isspace() for character in reference.text)]
    word_at = {0: 0} | {end: i + 1 for i, end in enumerate(ink_ends(words))}
    for anchored in found:
        first = word_at.get(ink[anchored.start_char + anchored.char_starts[0]])
        behind = word_at.get(ink[anchored.start_char + anchored.char_ends[-1]])
        if first is not None and behind is not None:
            projection = project(anchored.tree, words[first:behind])
            if projection is not None and projection.n_lost <= MAX_LOST * projection.n_phrases:
                yield first, projection.tree
