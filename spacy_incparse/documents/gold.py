"""Gold trees of Examples: projected onto the tokens of the pipeline, and compared with the trees that it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from typing import Any
from weakref import WeakKeyDictionary

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.documents.storage import AnchoredTree, anchored_trees, write_tree
from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.evalb import PlacedTree, TextScores, score_texts
from spacy_incparse.tokens import spaces_after
from spacy_incparse.treebanks.reader import normalized_tree, parse_bracketed
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


def default_spaces(tree: Tree) -> list[bool]:
    """Return for each word of a tree whether a space follows it in ordinary text."""
    return spaces_after(tree.words, tree.tags)


def trees_to_docs(
    trees: Iterable[Tree], vocab: Vocab, *, natural_spacing: bool = False, n_sents: int = 1,
    spaces: Callable[[Tree], list[bool]] = default_spaces,
) -> Iterator[Doc]:  # fmt: skip
    """Yield Docs of `n_sents` sentences each, with the trees, tags and sentence boundaries of normalized trees.

    The words become the Doc's tokens. With `natural_spacing`, spaces are placed as in ordinary text, or as `spaces`
    says for each word; without it, spaces are unknown, so that spaCy's readers use the gold tokens. Use
    `store_user_data=True` to keep the trees in a DocBin.
    """
    trees = iter(trees)
    while group := list(islice(trees, n_sents)):
        yield _doc(group, vocab, spaces if natural_spacing else None)


def _doc(trees: Sequence[Tree], vocab: Vocab, spaces_of: Callable[[Tree], list[bool]] | None) -> Doc:
    words = [word for tree in trees for word in tree.words]
    if "" in words:
        brackets = next(str(tree) for tree in trees if "" in tree.words)
        raise IncparseError(f"{brackets[:80]}: the empty word (-EMPTY-) cannot be a token of a Doc: leave it out")
    tags = [tag for tree in trees for tag in tree.tags]
    starts: list[bool | int | None] = [i == 0 for tree in trees for i in range(len(tree.words))]
    spaces: list[bool] | None = None
    if spaces_of is not None:  # after words, and between sentences
        spaces = [space for tree in trees for space in [*spaces_of(tree)[:-1], True]]
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
    gold = list(map(normalized_tree, _given(trees)))
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


def gold_trees(examples: Iterable[Example]) -> list[Tree]:
    """Return all gold trees of the examples. Raises IncparseError if most of them cannot be used."""
    trees: list[Tree] = []
    n_skipped = 0
    for example in examples:
        gold = gold_sentences(example)
        trees += [tree for _, tree in gold.trees]
        n_skipped += gold.n_skipped
    if n_skipped > len(trees):
        raise IncparseError(
            f"{n_skipped} of {n_skipped + len(trees)} gold trees do not fit the pipeline's tokens: is the tokenizer "
            f"the one for this treebank? Gold tokens are used where the Docs have unknown spaces"
        )
    return trees


def check_found(trees: Sequence[Tree], name: str) -> None:
    """Raise IncparseError if a component, given by its name, has no gold trees to learn from."""
    if not trees:
        raise IncparseError(
            f"the component {name!r} found no gold trees to learn from: read the treebank with "
            f"@readers = 'spacy_incparse.TreebankReader.v1', or convert it with `spacy-incparse convert`"
        )


def gold_with_sentences(examples: Iterable[Example]) -> Iterator[tuple[Tree, Sentence]]:
    """Yield the gold trees of examples, each with its words in the predicted Doc and their tags there."""
    for example in examples:
        tokens = [token for token in example.predicted if not token.is_space]
        for first, tree in gold_sentences(example).trees:
            found = tokens[first : first + len(tree.words)]
            starts, ends = [token.idx for token in found], [token.idx + len(token) for token in found]
            tags = [token.tag_ for token in found]
            places = [token.i for token in found]
            yield tree, Sentence(starts[0], ends[-1], places, list(tree.words), tags, starts, ends)
