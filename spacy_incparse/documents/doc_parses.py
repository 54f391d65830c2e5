"""The analyses of a Doc's sentences beside the trees on it, and how probable they are.

They are those stored on the Doc (the component's `nbest`), or else asked of a pipeline in this process that gives the
very trees of the Doc; a Doc refers to no pipeline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from spacy.language import Language
from spacy.tokens import Doc

from spacy_incparse.documents.doc_tree import DocTree
from spacy_incparse.documents.live_parsers import live_components
from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.documents.stored_fields import StoredAnalysis, stored_analyses, stored_temperature
from spacy_incparse.documents.tree_storage import AnchoredTree, anchored_trees
from spacy_incparse.errors import IncparseError
from spacy_incparse.parsers.pushed_words import check_n_analyses

if TYPE_CHECKING:
    from spacy_incparse.parsers.parse import Parse
    from spacy_incparse.perceptron.perceptron_parser import Tags
    from spacy_incparse.pipeline.parser_pipe import IncParser

Phrase = tuple[str, int, int]


class ScoredTree(NamedTuple):
    """An analysis of a sentence: the root of its tree, its score, and its probability among the analyses.

    Scores are sums of weights, good for comparing trees of one sentence. probability: None where the model has no
    temperature.
    """

    tree: DocTree
    score: float
    probability: float | None


@dataclass(frozen=True, slots=True)
class Confidence:
    """How probable a tree is, and each phrase over the words of its sentence."""

    tree: float
    phrases: dict[Phrase, float]


_confidences: WeakKeyDictionary[AnchoredTree, Confidence] = WeakKeyDictionary()


def doc_parses(doc: Doc, k: int = 10, *, nlp: Language | None = None) -> tuple[tuple[ScoredTree, ...], ...]:
    """Return for each sentence that has a tree up to k analyses, the tree on the Doc first, then the best others.

    At most 100 are looked at; where the component was given `nbest`, those that it stored. With `nlp` that pipeline
    parses the sentences, whatever is on the Doc. Raises IncparseError where there is no pipeline to ask, or k is
    below 1.
    """
    check_n_analyses(k)
    component = None if nlp is None else _component_of(nlp)
    return tuple(tuple(_scored(doc, _analyses(doc, found, component), k)) for found in anchored_trees(doc))


def node_confidence(doc: Doc, found: AnchoredTree, index: int) -> float | None:
    """Return the probability of the whole tree at its root, at another phrase that of its label over its words.

    None at POS nodes and for flat trees. Raises IncparseError where there is no pipeline to ask or no temperature.
    """
    arrays = found.tree.arrays
    if found.source == "flat" or arrays.sizes[index] == 1:
        return None
    confidence = _confidences.get(found)
    if confidence is None:
        analyses = _analyses(doc, found, None)
        if analyses.temperature is None:
            raise IncparseError(
                "the model has no temperature to make probabilities of its scores: it was trained without held-out "
                "trees; the component's calibrate() fits one"
            )
        confidence = _confidences[found] = _confidence(analyses)[0]
    return (
        confidence.phrases[arrays.labels[index], arrays.starts[index], arrays.ends[index]] if index else confidence.tree
    )


def forget_confidences() -> None:
    """Forget what was computed with an older temperature."""
    _confidences.clear()


class _Analyses(NamedTuple):
    trees: Sequence[AnchoredTree]  # the best first
    temperature: float | None


def _scored(doc: Doc, analyses: _Analyses, k: int) -> Iterator[ScoredTree]:
    known = _confidence(analyses) if analyses.temperature is not None else []
    for i, anchored in enumerate(analyses.trees[:k]):
        if known:
            _confidences[anchored] = known[i]
        yield ScoredTree(DocTree(doc, anchored), anchored.score or 0.0, known[i].tree if known else None)


def _confidence(analyses: _Analyses) -> list[Confidence]:
    from spacy_incparse.parsers.nbest import phrase_probabilities, probabilities

    assert analyses.temperature is not None
    shares = probabilities([anchored.score or 0.0 for anchored in analyses.trees], analyses.temperature)
    phrases = phrase_probabilities([anchored.tree for anchored in analyses.trees], shares)
    return [Confidence(share, phrases) for share in shares]


def _analyses(doc: Doc, found: AnchoredTree, component: IncParser | None) -> _Analyses:
    if component is not None:
        sentence = component.with_constraints(doc, _sentence(doc, found))
        tags = component.tags_for(sentence)
        own = component.decoder.nbest_search.analyses(found.tree.words, tags, sentence.constraints)
        return _parsed(found, component, own)
    stored = stored_analyses(found.more, found.tree.words)
    if stored:
        return _Analyses([found, *(_beside(found, other) for other in stored)], stored_temperature(found.more))
    if found.source == "flat":
        return _Analyses([found], None)
    component, tags, best = _origin(doc, found)
    constraints = component.with_constraints(doc, _sentence(doc, found)).constraints
    parses = component.decoder.nbest_search.beside(best, found.tree.words, tags, constraints)
    analyses = _parsed(found, component, parses)
    return _Analyses([found, *analyses.trees[1:]], analyses.temperature)


def _parsed(found: AnchoredTree, component: IncParser, parses: Sequence[Parse]) -> _Analyses:
    heads = component.decoder.heads_field
    trees = [
        replace(found, tree=parse.tree, score=parse.score, source=parse.source, more=(heads(parse.tree),))
        for parse in parses
    ]
    return _Analyses(trees, None if parses[0].source == "flat" else component.decoder.temperature)


def _beside(found: AnchoredTree, other: StoredAnalysis) -> AnchoredTree:
    return replace(found, tree=other.tree, score=other.score, more=(other.heads,) if other.heads else ())


def _sentence(doc: Doc, found: AnchoredTree) -> Sentence:
    """Return the words of a tree with the tags that the Doc has for them now."""
    leaves = [DocTree(doc, found, leaf) for leaf in found.tree.arrays.leaves]
    tags = [leaf.tokens[0].tag_ for leaf in leaves]
    starts, ends = [leaf.start_char for leaf in leaves], [leaf.end_char for leaf in leaves]
    return Sentence(found.start_char, found.end_char, (), list(found.tree.words), tags, starts, ends)


def _origin(doc: Doc, found: AnchoredTree) -> tuple[IncParser, Tags, Parse]:
    """Return a live component that gives this very tree, under which tags, and what it gives.

    One of the Doc's own vocab is preferred, then one with a temperature.
    """
    without_temperature = None
    sentence = _sentence(doc, found)
    for component in sorted(live_components(), key=lambda component: component.vocab is not doc.vocab):
        for tags, best in _own_parses(component, component.with_constraints(doc, sentence), found):
            if _is_same(best, found):
                if component.decoder.temperature is not None:
                    return component, tags, best
                without_temperature = without_temperature or (component, tags, best)
    if without_temperature:
        return without_temperature
    start = " ".join(found.tree.words[:8])
    raise IncparseError(
        f"no pipeline in this process gives the tree of {start!r}: load the one that parsed it, name another one "
        f"(doc._.parses(k, nlp=...)), or parse with the component's nbest, which stores analyses on the Doc; the spans "
        f"that it had to keep to (required_key, forbidden_key) must still be there"
    )


def _own_parses(component: IncParser, sentence: Sentence, found: AnchoredTree) -> Iterator[tuple[Tags, Parse]]:
    """Yield what a component gives under the tags that it takes now, and under the tree's: they may have been given."""
    try:
        parser = component.decoder.parser
        own = component.tags_for(sentence)
        yield own, parser.parse(sentence.words, own, sentence.constraints)
        if own != list(found.tree.tags):
            yield found.tree.tags, parser.parse(sentence.words, found.tree.tags, sentence.constraints)
    except IncparseError:  # no weights, or none that can be read
        return


def _is_same(best: Parse, found: AnchoredTree) -> bool:
    """Whether it is the stored tree; its score was stored to six figures, or was lost with everything but the spans."""
    return best.tree == found.tree and (found.score is None or f"{best.score:.6g}" == f"{found.score:.6g}")


def _component_of(nlp: Language) -> IncParser:
    from spacy_incparse.pipeline.parser_pipe import IncParser  # which imports this module

    if not isinstance(nlp, Language):
        raise IncparseError(f"nlp is {nlp!r}: it must be a pipeline")
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, IncParser):
            return pipe
    raise IncparseError("the pipeline has no component 'incparse' to ask for analyses")
