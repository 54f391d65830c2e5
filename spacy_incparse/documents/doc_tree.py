"""Trees for users on a Doc, with the other analyses of their sentences, and the probabilities of trees and phrases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from spacy_incparse.documents.live_parsers import LiveParser, deciding_parser, live_components
from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.documents.storage import AnchoredTree, anchored_trees
from spacy_incparse.errors import IncparseError
from spacy_incparse.parsing.nbest import phrase_probabilities, probabilities
from spacy_incparse.parsing.parse import check_n_analyses
from spacy_incparse.patterns.syntax import TOKEN_ATTRIBUTES
from spacy_incparse.treebanks.reader import normalized_tree
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.codec import MAKER, PROBABILITY, TEMPERATURE, stored_analyses, stored_field, stored_number
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.evaluation.nbest import Calibration
    from spacy_incparse.parsing.parse import Input, Parse, Posterior, TreeScore


_ANNOTATIONS = ("TAG", "POS", "MORPH", "LEMMA", "DEP")  # those that spaCy's Matcher also asks for


class DocTree(Tree):
    """A node of a sentence's tree on a Doc: a Tree that knows its tokens and its position in the text.

    `start` and `end` count the words of the sentence, as in every Tree; whitespace tokens do not count. `start_char`
    and `end_char` are character offsets in the Doc's text. A node keeps its Doc alive; a pickled copy is a Tree without
    a Doc. The words are those from the time of parsing, even if tokens were merged or split later.

    Analyses are stored on the Doc (by the component's `nbest`), or requested from the component in this process that
    made the tree, which is stored with its id. A Doc holds no reference to a pipeline.
    """

    __slots__ = ("_anchored", "_doc")

    def __init__(self, doc: Doc, anchored: AnchoredTree, index: int = 0):
        self._arrays, self._index = anchored.tree.arrays, index
        self._doc, self._anchored = doc, anchored

    @property
    def doc(self) -> Doc:
        """The Doc."""
        return self._doc

    @property
    def start_char(self) -> int:
        """The offset of the node's first character in the Doc's text."""
        return self._anchored.chars_of(self._index)[0]

    @property
    def end_char(self) -> int:
        """The offset after the node's last character in the Doc's text."""
        return self._anchored.chars_of(self._index)[1]

    @property
    def text(self) -> str:
        """The Doc's text that the node covers."""
        start, end = self._anchored.chars_of(self._index)
        origin = self._anchored.start_char
        return self._anchored.text[start - origin : end - origin]

    @property
    def span(self) -> Span | None:
        """The node's tokens as a Span with the node's label.

        None if tokens were merged after parsing, so that the node begins or ends inside a token.
        """
        start, end = self._anchored.chars_of(self._index)
        return self._doc.char_span(start, end, label=self.label)

    @property
    def tokens(self) -> Sequence[Any]:
        """The tokens of the node without whitespace: one per word, unless tokens were merged or split after parsing."""
        return tuple(token for token in self._covering(*self._anchored.chars_of(self._index)) if not token.is_space)

    def token_texts(self, name: str) -> list[str]:
        """Return an attribute of each word's token (its first one, if it was split) as a text, "" for None.

        name: one of `TOKEN_ATTRIBUTES`, or "_." and the name of a custom attribute. Raises IncparseError if the Doc
        lacks the annotation, or tokens have no such attribute.
        """
        tokens = [leaf.tokens[0] for leaf in self.pos_nodes()]
        if name.startswith("_."):
            if not Token.has_extension(name[2:]):
                raise IncparseError(f"tokens have no {name}: register it with Token.set_extension({name[2:]!r}, ...)")
            values = [token._.get(name[2:]) for token in tokens]
        else:
            if name in _ANNOTATIONS and not self._doc.has_annotation(name):
                raise IncparseError(f"the tokens of the Doc have no {name}: run a component first that sets it")
            values = [getattr(token, TOKEN_ATTRIBUTES[name]) for token in tokens]
        return ["" if value is None else str(value) for value in values]

    @property
    def head(self) -> Token:
        """The token of the node's lexical head, by the head rules of the parser that produced the tree.

        For a given tree (not produced by a parser), the rules for the Doc's language apply. If the head was split
        after parsing, this is its first token.
        """
        word = self._anchored.head_words[self._index]
        start = self._anchored.start_char + self._anchored.char_starts[word]
        return self._covering(start, start + 1)[0]

    @property
    def score(self) -> float | None:
        """The score of the whole tree: a sum of weights, only comparable between trees of the same sentence.

        None for a given tree, which no parser produced.
        """
        return self._anchored.score

    @property
    def source(self) -> str:
        """The source of the whole tree: "beam", "chart", "relaxed" or "flat" (docs/formats.md); "" for a given tree."""
        return self._anchored.source

    @property
    def confidence(self) -> float | None:
        """The probability that the whole tree is right; below the root, that a phrase with this label has these words.

        It is the weighted share of the sentence's analyses (`doc._.parses`) that contain this tree or phrase. It is
        only as reliable as the model's scores (benchmarks/RESULTS.md reports the error). None for POS nodes, and if the
        parser failed or parsed the sentence in several charts, piece by piece. Raises IncparseError if the analyses are
        not stored on the Doc and no pipeline in this process produces its trees, or if the model has no temperature.
        """
        found, arrays, index = self._anchored, self._arrays, self._index
        if found.source == "flat" or arrays.sizes[index] == 1:
            return None
        confidence = _confidences.get(found)
        if confidence is None and index == 0:
            stored = stored_number(found.more, PROBABILITY)
            if stored is not None:
                return stored
        if confidence is None:
            analyses = _analyses_of(self._doc, found)
            if not analyses.have_probabilities:
                return None
            known = _confidences_of(analyses)
            if not known:
                raise IncparseError(
                    "there is no temperature that turns scores into probabilities, as for a model that was trained "
                    "without held-out trees, and a combination of parsers: fit one with the component's calibrate()"
                )
            confidence = known[0]
        of_tree, of_phrases = confidence
        if index == 0:
            return of_tree
        phrases, place = of_phrases(), (self.start, self.end)  # functions may have become parts of labels
        return phrases.get((self.label, *place), phrases.get((self.category, *place), 0.0))

    def _covering(self, start_char: int, end_char: int) -> Span:
        span = self._doc.char_span(start_char, end_char, alignment_mode="expand")
        assert span is not None  # trees are only decoded for characters within the Doc
        return span

    def _at(self, index: int) -> DocTree:
        return DocTree(self._doc, self._anchored, index)

    def _index_of(self, node: Any) -> int:
        """Return the lowest node over a Token or Span without white space at its edges; the rest is as in a Tree."""
        if not isinstance(node, Token | Span):
            return super()._index_of(node)
        start, text = node.idx if isinstance(node, Token) else node.start_char, node.text
        first, behind = start + len(text) - len(text.lstrip()), start + len(text.rstrip())
        path = self._anchored.path_to(first, behind) if node.doc is self._doc and first < behind else ()
        if not path:
            raise IncparseError(
                f"{text!r} (characters {start} to {start + len(text)}) is not in {self.root.text!r:.60}"
            )
        return path[-1]


class _Analyses(NamedTuple):
    """The analyses of a sentence, and the model's temperature, if it has one.

    posterior: the exact probabilities of all trees and phrases, if the parser knows them. have_probabilities: False if
    the parser, which would know them, parsed the sentence piece by piece.
    """

    trees: Sequence[AnchoredTree]  # the best first
    temperature: float | None
    posterior: Posterior | None = None
    have_probabilities: bool = True


def _analyses_of(doc: Doc, found: AnchoredTree, component: LiveParser | None = None, n_shown: int = 0) -> _Analyses:
    """Return the analyses of a sentence, starting with the tree on the Doc; given a component, those that it finds.

    n_shown: how many of them will be shown, so that they need their heads; the others only count for probabilities.
    Raises IncparseError if no analyses are stored and no live component produces this tree.
    """
    if component is not None:
        given = component.input_of(component.with_constraints(doc, _sentence(doc, found)))
        return _parsed(found, component, component.decoder.nbest_search.analyses(*given), given, n_shown)
    stored = stored_analyses(found.more, found.tree.words)
    if stored:
        others = [
            replace(found, tree=tree, score=score, more=(heads,) if heads else ()) for tree, score, heads in stored
        ]
        return _Analyses([found, *others], stored_number(found.more, TEMPERATURE))
    if found.source == "flat":
        return _Analyses([found], None)
    component, given, best = _origin(doc, found)
    parses = component.decoder.nbest_search.beside(best, *given)
    analyses = _parsed(found, component, parses, given, n_shown)
    return analyses._replace(trees=[found, *analyses.trees[1:]])


def _parsed(
    found: AnchoredTree, component: LiveParser, parses: Sequence[Parse], given: Input, n_shown: int
) -> _Analyses:
    decoder = component.decoder
    heads = [(decoder.heads_field(parse.tree),) for parse in parses[:n_shown]] + [()] * len(parses[n_shown:])
    trees = [
        replace(found, tree=parse.tree, score=parse.score, source=parse.source, more=more)
        for parse, more in zip(parses, heads, strict=True)
    ]
    exact, temperature = decoder.exact, decoder.temperature
    if parses[0].source == "flat":
        return _Analyses(trees, None)
    posterior = exact.posterior(*given) if exact else None
    is_known = temperature is None or posterior is not None or not (exact and exact.has_exact_probabilities)
    return _Analyses(trees, temperature, posterior, is_known)


def _sentence(doc: Doc, found: AnchoredTree) -> Sentence:
    """Return the words of a tree with their current tags on the Doc."""
    starts = [found.start_char + start for start in found.char_starts]
    ends = [found.start_char + end for end in found.char_ends]
    tags = []
    for start, end in zip(starts, ends, strict=True):  # the tag of the first token that overlaps with a word
        tokens = doc.char_span(start, end, alignment_mode="expand")
        tags.append(next((token.tag_ for token in tokens or () if not token.is_space), ""))
    return Sentence(found.start_char, found.end_char, (), list(found.tree.words), tags, starts, ends)


def _origin(doc: Doc, found: AnchoredTree) -> tuple[LiveParser, Input, Parse]:
    """Return the live component that made this tree, by its id, or else one that makes the same; with what it parsed.

    A tree of an earlier version has no id, nor has one that was rebuilt from spans or made in training. Then components
    with the Doc's own vocab are preferred, and those with a temperature.
    """
    without_temperature, maker, sentence = None, stored_field(found.more, MAKER), _sentence(doc, found)
    live = live_components()
    made = [component for component in live if maker and component.maker == maker]
    for component in sorted(live, key=lambda one: (one not in made, one.vocab is not doc.vocab)):
        for given, best in _own_parses(component, doc, sentence, found):
            # The score was stored with six digits, or lost with all but the spans.
            if best.tree in (found.tree, found.tree.strip_functions()) and (
                found.score is None
                or f"{best.score:.6g}" == f"{found.score:.6g}"
                or abs(best.score - found.score) < component.decoder.model_parser.score_tolerance
            ):
                if component in made or component.decoder.temperature is not None:
                    return component, given, best
                without_temperature = without_temperature or (component, given, best)
    if without_temperature:
        return without_temperature
    start = " ".join(found.tree.words[:8])
    raise IncparseError(
        f"no pipeline in this process produces the tree of {start!r}: load the one that parsed it, pass another one "
        f"(doc._.parses(k, nlp=...)), or set the component's nbest, which stores analyses on the Doc; if the parse was "
        f"constrained (required_key, forbidden_key), the Doc must still have the same spans, and for a neural parser "
        f"its tokens, not merged or split, and the vectors of other components (doc.tensor, doc._.trf_data)"
    )


def _own_parses(
    component: LiveParser, doc: Doc, sentence: Sentence, found: AnchoredTree
) -> Iterator[tuple[Input, Parse]]:
    """Yield a component's parses with the tags that it uses now, and with the tree's, which may have been given."""
    try:
        parser = component.decoder.parser
        own = words, tags, constraints, *_ = component.input_of(component.with_constraints(doc, sentence))
        yield own, parser.parse(*own)
        if tags != list(found.tree.tags):
            given = words, found.tree.tags, constraints
            yield given, parser.parse(*given)
    except IncparseError:  # weights or word vectors missing or unreadable
        return
    except (TypeError, ValueError):
        if component.vocab is doc.vocab:
            raise
        return  # the word vectors of another pipeline are on another device


# The probability of a tree, and a function that computes those of the phrases, for which all trees are needed.
_Confidence = tuple[float, Callable[[], Mapping[Phrase, float]]]
_confidences: WeakKeyDictionary[AnchoredTree, _Confidence] = WeakKeyDictionary()


def forget_confidences() -> None:
    """Clear the cached confidences, which an older temperature may have produced."""
    _confidences.clear()


def _confidences_of(analyses: _Analyses) -> list[_Confidence]:
    """Return the confidence of each analysis, and cache it; [] if it is unknown, or the model has no temperature.

    A parser that sums over all trees knows them exactly; otherwise they are the shares of the analyses.
    """
    if analyses.temperature is None or not analyses.have_probabilities:
        return []
    scores = [anchored.score or 0.0 for anchored in analyses.trees]
    if analyses.posterior:
        known = dict(analyses.posterior.phrases)
        found: list[_Confidence] = [(analyses.posterior.of_score(score), lambda: known) for score in scores]
    else:
        trees, shares = [anchored.tree for anchored in analyses.trees], probabilities(scores, analyses.temperature)
        phrases = cache(lambda: phrase_probabilities(trees, shares))
        found = [(share, phrases) for share in shares]
    _confidences.update(zip(analyses.trees, found, strict=True))
    return found


class ScoredTree(NamedTuple):
    """An analysis of a sentence: the root of its tree, its score, and its probability among the analyses.

    Scores are sums of weights, and only comparable between trees of the same sentence. probability: None if the model
    has no temperature, or a chart parser parsed the sentence piece by piece.
    """

    tree: DocTree
    score: float
    probability: float | None


def doc_parses(doc: Doc, k: int = 10, *, nlp: Language | None = None) -> tuple[tuple[ScoredTree, ...], ...]:
    """Return up to k analyses for each sentence with a tree: the tree on the Doc, then the best others.

    The search finds at most 100 analyses; if the component has `nbest` set, the stored analyses are returned. With
    `nlp`, that pipeline parses the sentences, whatever the Doc has stored. Raises IncparseError if no pipeline can
    provide the analyses, or k is below 1.
    """
    check_n_analyses(k)
    if nlp is not None and not isinstance(nlp, Language):
        raise IncparseError(f"nlp is {nlp!r}: it must be a pipeline")
    component = None if nlp is None else deciding_parser(nlp)
    rows = []
    for found in anchored_trees(doc):
        analyses = _analyses_of(doc, found, component, k)
        shares = [share for share, _ in _confidences_of(analyses)] or repeat(None)
        best = zip(analyses.trees[:k], shares, strict=False)
        rows.append(tuple(ScoredTree(DocTree(doc, one), one.score or 0.0, share) for one, share in best))
    return tuple(rows)


def score_doc_tree(component: LiveParser, doc: Doc, tree: Tree | str, *, gold_tags: bool = False) -> TreeScore:
    """Return the score that the component's parser assigns to a tree (or its brackets) of one of the Doc's sentences.

    For a tree of this Doc, that is its own sentence; otherwise it is the first sentence with the words of the
    normalized tree. The tags are those that the component would parse with, or with `gold_tags` the tree's. Raises
    IncparseError if no sentence matches.
    """
    if not isinstance(doc, Doc):
        raise IncparseError(
            f"score takes a Doc and a tree of one of its sentences, not a {type(doc).__name__}: {doc!r}"
        )
    if not isinstance(tree, Tree | str):
        raise IncparseError(f"score takes a Tree or its brackets as a string, not {tree!r}")
    given = normalized_tree(tree)
    words = list(given.words)
    start = tree.start_char if isinstance(tree, DocTree) and tree.doc is doc else None
    found = [sentence for sentence in component.sentences_of(doc) if sentence.words == words]
    sentence = min(found, key=lambda one: one.char_starts[0] != start, default=None)
    if sentence is None:
        raise IncparseError(f"no sentence of the Doc has the words of the tree: {' '.join(words[:8])!r}")
    words, tags, _, *more = (given.words, None, ()) if gold_tags else component.input_of(sentence)
    return component.decoder.parser.score(words, tags, given, *more)


@dataclass(frozen=True)
class ConfidenceScores:
    """How reliable confidences are: the calibration of whole trees, right or wrong as a whole, and of other phrases."""

    trees: Calibration
    phrases: Calibration

    def to_dict(self) -> dict[str, Any]:
        """Return both calibrations as a JSON-serializable dict."""
        return {"trees": self.trees.to_dict(), "phrases": self.phrases.to_dict()}

    def format(self) -> str:
        """Return both calibrations as a line of text."""
        trees, phrases = (
            f"{100 * found.mean:.1f} where {100 * found.right:.1f} are right" for found in (self.trees, self.phrases)
        )
        return (
            f"confidence of trees {trees}, of phrases {phrases}; "
            f"calibration error {100 * self.trees.error:.2f} and {100 * self.phrases.error:.2f}"
        )


def score_confidence(gold: Iterable[Tree], docs: Iterable[Doc]) -> ConfidenceScores | None:
    """Return the calibration of the confidences of parsed Docs, given the gold tree of each Doc.

    Return None if no tree has a confidence. Raises IncparseError if the pipeline that parsed the Docs no longer exists,
    or its model has no temperature.
    """
    from spacy_incparse.evaluation.nbest import calibration

    trees: list[tuple[float, bool]] = []
    phrases: list[tuple[float, bool]] = []
    for expected, doc in zip(gold, docs, strict=True):
        right = set(expected.spans())
        for tree in (DocTree(doc, found) for found in anchored_trees(doc)):
            if tree.confidence is not None:
                trees.append((tree.confidence, tree.spans() == expected.spans()))
                nodes = [(node.confidence, (node.label, node.start, node.end)) for node in tree.phrases()[1:]]
                phrases += [(confidence, span in right) for confidence, span in nodes if confidence is not None]
    of_trees, of_phrases = (
        calibration([confidence for confidence, _ in pairs], [is_right for _, is_right in pairs])
        for pairs in (trees, phrases)
    )
    return None if of_trees is None or of_phrases is None else ConfidenceScores(of_trees, of_phrases)
