"""Docs that carry gold trees, for training and for `.spacy` files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_incparse.documents.tree_storage import write_tree
from spacy_incparse.errors import IncparseError
from spacy_incparse.tokens import spaces_after
from spacy_incparse.trees.codec import encode
from spacy_incparse.trees.tree import Tree


def trees_to_docs(
    trees: Iterable[Tree], vocab: Vocab, *, natural_spacing: bool = False, n_sents: int = 1
) -> Iterator[Doc]:
    """Yield Docs of `n_sents` sentences each, with the trees, tags and sentence boundaries of normalized trees.

    The words become the Doc's tokens. With `natural_spacing`, spaces are placed as in ordinary text; without it, spaces
    are unknown, so that spaCy's readers use the gold tokens. Use `store_user_data=True` to keep the trees in a DocBin.
    """
    trees = iter(trees)
    while group := list(islice(trees, n_sents)):
        yield _doc(group, vocab, natural_spacing)


def _doc(trees: Sequence[Tree], vocab: Vocab, natural_spacing: bool) -> Doc:
    words = [word for tree in trees for word in tree.words]
    if "" in words:
        brackets = next(str(tree) for tree in trees if "" in tree.words)
        raise IncparseError(f"{brackets[:80]}: the empty word (-EMPTY-) cannot be a token of a Doc: leave it out")
    tags = [tag for tree in trees for tag in tree.tags]
    starts: list[bool | int | None] = [i == 0 for tree in trees for i in range(len(tree.words))]
    spaces = _spaces(trees) if natural_spacing else None
    doc = Doc(vocab, words=words, spaces=spaces, tags=tags, sent_starts=starts)
    first = 0
    for tree in trees:
        sentence = doc[first : first + len(tree.words)]
        char_starts = [token.idx for token in sentence]
        char_ends = [token.idx + len(token) for token in sentence]
        value = encode(tree, char_starts, char_ends, origin=sentence.start_char)
        write_tree(doc, sentence.start_char, sentence.end_char, value)
        first = sentence.end
    return doc


def _spaces(trees: Sequence[Tree]) -> list[bool]:
    """Return whether each word is followed by a space, as in ordinary text and between sentences."""
    spaces: list[bool] = []
    for tree in trees:
        spaces += [*spaces_after(tree.words, tree.tags)[:-1], True]
    return [*spaces[:-1], False]
