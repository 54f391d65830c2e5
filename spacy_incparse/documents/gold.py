"""Project the gold trees of training and test examples onto the pipeline's tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from weakref import WeakKeyDictionary

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_incparse.documents.storage import AnchoredTree, anchored_trees, write_tree
from spacy_incparse.errors import IncparseError
from spacy_incparse.tokens import spaces_after
from spacy_incparse.treebanks.normalize import normalize
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.builder import ink_ends, project
from spacy_incparse.trees.codec import encode
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
        trees = [anchored.tree for anchored in source[1]]
        if words == tuple(chain.from_iterable(tree.words for tree in trees)):
            firsts = accumulate((len(tree.words) for tree in trees), initial=0)
            kept = tuple(zip(firsts, trees, strict=False))
        else:
            kept = tuple(_projected(example.reference, source[1], words))
        known = _cache[example.reference] = source, GoldSentences(kept, len(trees) - len(kept))
    return known[1]


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
    spaces: list[bool] | None = None
    if natural_spacing:  # after each word as in ordinary text, and between sentences
        spaces = [space for tree in trees for space in [*spaces_after(tree.words, tree.tags)[:-1], True]]
        spaces[-1] = False
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
    gold = []
    for tree in _given(trees):
        normalized = normalize(tree)
        if normalized is None:
            raise IncparseError(f"the tree {tree} has no words except traces")
        gold.append(normalized)
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
