"""The n-best analyses of a sentence of a Doc.

They are stored on the Doc (by the component's `nbest`), or requested from the component in this process that made the
tree, which is stored with its id. A Doc holds no reference to a pipeline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from spacy.tokens import Doc

from spacy_incparse.documents.live_parsers import LiveParser, live_components
from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.documents.storage import AnchoredTree
from spacy_incparse.documents.stored_fields import StoredAnalysis, stored_analyses, stored_maker, stored_temperature
from spacy_incparse.errors import IncparseError

if TYPE_CHECKING:
    from spacy_incparse.parsing.parse import Constraints, Parse, Posterior, Tags


class Analyses(NamedTuple):
    """The analyses of a sentence, and the model's temperature, if it has one.

    posterior: the exact probabilities of all trees and phrases, if the parser knows them. have_probabilities: False if
    the parser, which would know them, parsed the sentence piece by piece.
    """

    trees: Sequence[AnchoredTree]  # the best first
    temperature: float | None
    posterior: Posterior | None = None
    have_probabilities: bool = True


def analyses_of(doc: Doc, found: AnchoredTree, component: LiveParser | None = None, n_shown: int = 0) -> Analyses:
    """Return the analyses of a sentence, starting with the tree on the Doc; given a component, those that it finds.

    n_shown: how many of them will be shown, so that they need their heads; the others only count for probabilities.
    Raises IncparseError if no analyses are stored and no live component produces this tree.
    """
    if component is not None:
        sentence = component.with_constraints(doc, _sentence(doc, found))
        tags = component.tags_for(sentence)
        own = component.decoder.nbest_search.analyses(found.tree.words, tags, sentence.constraints)
        return _parsed(found, component, own, tags, sentence.constraints, n_shown)
    stored = stored_analyses(found.more, found.tree.words)
    if stored:
        return Analyses([found, *(_beside(found, other) for other in stored)], stored_temperature(found.more))
    if found.source == "flat":
        return Analyses([found], None)
    component, tags, best = _origin(doc, found)
    constraints = component.with_constraints(doc, _sentence(doc, found)).constraints
    parses = component.decoder.nbest_search.beside(best, found.tree.words, tags, constraints)
    analyses = _parsed(found, component, parses, tags, constraints, n_shown)
    return analyses._replace(trees=[found, *analyses.trees[1:]])


def _parsed(
    found: AnchoredTree,
    component: LiveParser,
    parses: Sequence[Parse],
    tags: Tags,
    constraints: Constraints,
    n_shown: int,
) -> Analyses:
    decoder = component.decoder
    trees = []
    for number, parse in enumerate(parses):
        more = (decoder.heads_field(parse.tree),) if number < n_shown else ()
        trees.append(replace(found, tree=parse.tree, score=parse.score, source=parse.source, more=more))
    if parses[0].source == "flat":
        return Analyses(trees, None)
    posterior = decoder.posterior(found.tree.words, tags, constraints)
    is_known = decoder.temperature is None or posterior is not None or not decoder.has_exact_probabilities
    return Analyses(trees, decoder.temperature, posterior, is_known)


def _beside(found: AnchoredTree, other: StoredAnalysis) -> AnchoredTree:
    return replace(found, tree=other.tree, score=other.score, more=(other.heads,) if other.heads else ())


def _sentence(doc: Doc, found: AnchoredTree) -> Sentence:
    """Return the words of a tree with their current tags on the Doc."""
    chars = [found.chars_of(leaf) for leaf in found.tree.arrays.leaves]
    tags = [_tag(doc, *bounds) for bounds in chars]
    starts, ends = [start for start, _ in chars], [end for _, end in chars]
    return Sentence(found.start_char, found.end_char, (), list(found.tree.words), tags, starts, ends)


def _tag(doc: Doc, start_char: int, end_char: int) -> str:
    """Return the tag of the first token that overlaps with a word."""
    tokens = doc.char_span(start_char, end_char, alignment_mode="expand")
    return next((token.tag_ for token in tokens or () if not token.is_space), "")


def _origin(doc: Doc, found: AnchoredTree) -> tuple[LiveParser, Tags, Parse]:
    """Return the live component that made this tree, by its id, or else one that makes the same: with tags and parse.

    A tree of an earlier version has no id, nor has one that was rebuilt from spans or made in training. Then components
    with the Doc's own vocab are preferred, and those with a temperature.
    """
    without_temperature, maker, sentence = None, stored_maker(found.more), _sentence(doc, found)
    live = live_components()
    made = [component for component in live if maker and component.maker == maker]
    for component in sorted(live, key=lambda one: (one not in made, one.vocab is not doc.vocab)):
        for tags, best in _own_parses(component, doc, sentence, found):
            if _is_same(best, found, component):
                if component in made or component.decoder.temperature is not None:
                    return component, tags, best
                without_temperature = without_temperature or (component, tags, best)
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
) -> Iterator[tuple[Tags, Parse]]:
    """Yield a component's parses with the tags that it uses now, and with the tree's, which may have been given."""
    try:
        parser = component.decoder.parser
        sentence = component.with_constraints(doc, sentence)
        own = component.tags_for(sentence)
        yield own, parser.parse(sentence.words, own, sentence.constraints)
        if own != list(found.tree.tags):
            yield found.tree.tags, parser.parse(sentence.words, found.tree.tags, sentence.constraints)
    except IncparseError:  # weights or word vectors missing or unreadable
        return
    except (TypeError, ValueError):
        if component.vocab is doc.vocab:
            raise
        return  # the word vectors of another pipeline are on another device


def _is_same(best: Parse, found: AnchoredTree, component: LiveParser) -> bool:
    """Return whether this is the stored tree; its score was stored with six digits, or lost with all but the spans."""
    if best.tree != found.tree or found.score is None:
        return best.tree == found.tree
    tolerance = getattr(component.decoder.model_parser, "score_tolerance", 0.0)
    return f"{best.score:.6g}" == f"{found.score:.6g}" or abs(best.score - found.score) < tolerance
