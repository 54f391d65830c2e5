"""Create Examples from brackets, without a treebank file, for `nlp.update`, `nlp.initialize` and `nlp.evaluate`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_incparse.documents.conversion import trees_to_docs
from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.normalize import normalize
from spacy_incparse.treebanks.penn_reader import parse_bracketed
from spacy_incparse.trees.tree import Tree


def example(nlp: Language, tree: str | Tree, *, tokenize: bool = False) -> Example:
    """Return an Example with a gold tree: brackets such as "(S (NP (DT the) (NN owl)) (VP (VBD slept)))", or a Tree.

    The tree is normalized like the trees of a treebank: traces and function tags are dropped, and the root becomes TOP.
    The tokens are the words of the tree, such as "(" for "-LRB-"; with `tokenize`, the pipeline's tokenizer splits the
    text. Raises IncparseError unless `tree` is a single tree with words, and TreebankError for malformed brackets.
    """
    found = examples(nlp, tree, tokenize=tokenize)
    if len(found) != 1:
        raise IncparseError(f"example() takes one tree, not {len(found)}: examples() takes any number")
    return found[0]


def examples(nlp: Language, trees: str | Tree | Iterable[str | Tree], *, tokenize: bool = False) -> list[Example]:
    """Return an Example for each tree, given as brackets or as a Tree; a string may contain several trees.

    `tokenize` and errors are as in `example`.
    """
    if not isinstance(nlp, Language):
        raise IncparseError(f"the first argument has to be a pipeline, as in example(nlp, '(S ...)'), not {nlp!r}")
    gold = map(_normalized, _given(trees))
    return [example_of(nlp, doc, tokenize=tokenize) for doc in trees_to_docs(gold, nlp.vocab, natural_spacing=tokenize)]


def example_of(nlp: Language, reference: Doc, *, tokenize: bool) -> Example:
    """Return an Example of a Doc with gold trees.

    With `tokenize`, its predicted Doc has only the text; otherwise it has the gold tokens and sentence boundaries.
    spaCy's sentencizer keeps existing boundaries, so trees are compared sentence by sentence.
    """
    if tokenize:
        return Example(nlp.make_doc(reference.text), reference)
    words = [token.text for token in reference]
    bounds: list[bool | int | None] = [token.is_sent_start for token in reference]
    return Example(Doc(nlp.vocab, words=words, sent_starts=bounds), reference)


def _given(trees: str | Tree | Iterable[str | Tree]) -> Iterator[Tree]:
    are_one = isinstance(trees, str | bytes | Tree) or not (hasattr(trees, "__iter__") or hasattr(trees, "__getitem__"))
    for given in [trees] if are_one else trees:
        if isinstance(given, str):
            found = list(parse_bracketed(given))
            if not found:
                raise IncparseError(f"{given!r} contains no tree: write brackets, such as (S (NP (PRP She)) ...)")
            yield from found
        elif isinstance(given, Tree):
            yield Tree(given.arrays, given.index)
        else:
            raise IncparseError(f"a gold tree has to be a Tree, or brackets in a string, not {given!r}")


def _normalized(tree: Tree) -> Tree:
    gold = normalize(tree)
    if gold is None:
        raise IncparseError(f"the tree {tree} has no words except traces")
    return gold
