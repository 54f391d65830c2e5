"""The component `incparse_reranker`, which chooses among the analyses of the parser before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_incparse.documents.gold import const_score
from spacy_incparse.documents.live_parsers import ConfiguredParser, maker_id
from spacy_incparse.documents.sentences import Sentence, write_tags
from spacy_incparse.documents.storage import (
    MEASURES,
    Key,
    key_of,
    keys,
    mirror_trees,
    remove_mirrors,
    user_data,
    write_tree,
)
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.parsing.parse import Input, Parse
from spacy_incparse.pipeline.model import RerankerModel, check_source, is_being_loaded
from spacy_incparse.pipeline.tree_pipe import (
    SCORER,
    ParsedSentence,
    SearchingPipe,
    TreePipe,
    encode_parse,
    tree_factory,
)
from spacy_incparse.rerank.training import RERANK_DEFAULTS, check_reranking
from spacy_incparse.trees.codec import PROBABILITY

if TYPE_CHECKING:
    from spacy_incparse.rerank.reranker import RerankedSearch, Reranker
    from spacy_incparse.trees.tree import Tree


DEFAULT_CONFIG: dict[str, Any] = {
    "model": None,
    "parser": None,
    "search": {},
    "training": RERANK_DEFAULTS,
    "scorer": SCORER,
}


@tree_factory("incparse_reranker", DEFAULT_CONFIG, "token._.incparse")
def make_incparse_reranker(
    nlp: Language,
    name: str,
    model: str | Path | None,
    parser: str | None,
    search: dict[str, Any],
    training: dict[str, Any],
    scorer: Callable | None,
) -> IncParserReranker:
    """Create the component.

    model: the source of the weights, as in `incparse`: a pipeline with a trained reranker.
    parser: the name of the component whose analyses are reranked; None: the last parser before this component.
    search: `n`, the number of analyses to look at, and `choose`, as in training.
    training: settings of training, see `RERANK_DEFAULTS`.
    scorer: as in every spaCy component.
    """
    check_source(nlp, name, model, RerankerModel)
    if not is_being_loaded(nlp, name):
        check_reranking(training)
    return IncParserReranker(
        nlp.vocab, RerankerModel(model), name, parser=parser, search=search, training=training, scorer=scorer
    )


class IncParserReranker(SearchingPipe):
    """A reranker as a trainable spaCy component. See `make_incparse_reranker` for all settings.

    It asks the parser component for the n-best list of each sentence, so nothing has to be stored on the Docs. All
    training happens in `initialize`, from files with lists, so `update` does nothing.
    """

    is_reranker = True

    def __init__(
        self,
        vocab: Vocab,
        model: RerankerModel,
        name: str = "incparse_reranker",
        *,
        parser: str | None = None,
        search: dict[str, Any] | None = None,
        training: dict[str, Any] | None = None,
        scorer: Callable | None = const_score,
    ):
        self.parser_name, self.spans_key = parser, None  # the parser component has the name of the group
        self.training = RERANK_DEFAULTS | (training or {})
        self._parser: TreePipe | None = None  # the last one found: a copy in another process has no pipeline
        self._was_alone = False  # of a copy: whether the parser of the pipeline was disabled
        super().__init__(vocab, model, name, scorer, search)

    def check_search(self, search: dict[str, Any]) -> None:
        """Raise ConfigError if a setting is neither `n` nor `choose`, or has a value that it cannot have."""
        if None in search.values():
            raise ConfigError(f"{self.name}: search is {search!r:.60}: it must be a dict of settings and their values")
        check_reranking({}, search)

    @property
    def labels(self) -> tuple[str, ...]:
        """The phrase labels of the parser; () without one."""
        parser = self.find_parser()
        return () if parser is None else parser.labels

    @property
    def parser(self) -> TreePipe:
        """The component whose analyses are reranked. Raises IncparseError if the pipeline has none before this one."""
        parser = self.find_parser()
        if parser is None:
            named = "'incparse'" if self.parser_name is None else f"{self.parser_name!r} with the factory 'incparse'"
            raise IncparseError(
                f"the component {self.name!r} has no parser whose trees it can rerank: there must be a component "
                f"{named} before it in the pipeline"
            )
        return parser

    @property
    def decoder(self) -> RerankedParser:
        """The parser with the reranker behind it. Raises IncparseError if either has no weights."""
        reranker, base = self._reranker(), self.parser.decoder
        known = self._decoder
        if known is None or known.base is not base or known.source is not reranker:
            known = self._decoder = RerankedParser(base, reranker, self._search, self.maker)
        return known

    @property
    def maker(self) -> str:
        """The id that is stored with the trees: of the component's name, its weights, and the parser."""
        parser = self.find_parser()
        return "" if parser is None else maker_id(self.name, self.model.checksum, parser.maker)

    def find_parser(self) -> TreePipe | None:
        """Return the component whose analyses are reranked, also if it is disabled; None if there is none."""
        nlp = self.pipeline()
        if nlp is not None:
            names_and_pipes = nlp.components
            here = [i for i, (_, pipe) in enumerate(names_and_pipes) if pipe is self]
            before = names_and_pipes[: here[0]] if here else names_and_pipes
            found = [pipe for name, pipe in before if isinstance(pipe, TreePipe) and self.parser_name in (None, name)]
            self._parser = found[-1] if found else None
        return self._parser

    def sentences_of(self, doc: Doc) -> list[Sentence]:
        """Return the sentences of a Doc with the parser component's constraints."""
        return self.parser.sentences_of(doc)

    def with_constraints(self, doc: Doc, sentence: Sentence) -> Sentence:
        """Return a sentence with the parser component's current constraints on its Doc."""
        parser = self.find_parser()
        return sentence if parser is None else parser.with_constraints(doc, sentence)

    def input_of(self, sentence: Sentence) -> Input:
        """Return what the parser component's parser takes of a sentence."""
        return self.parser.input_of(sentence)

    def nbest_parses(self, sentence: Sentence, k: int | None) -> list[Parse]:
        """Return up to `k` analyses of a sentence in their new order; the parser's tree if reranking fails."""
        try:
            return self.decoder.nbest_search.analyses(*self.input_of(sentence))[:k]
        except Exception:
            return self.parser.nbest_parses(sentence, 1)

    def predict(self, docs: Iterable[Doc]) -> list[list[ParsedSentence]]:
        """Return the sentences of each Doc with the chosen trees, without modifying the Docs.

        Sentences without a choice, and those where reranking fails, keep the parser's trees; if the Doc has none,
        because the parser is disabled, they get them here.
        """
        decoder, parser, docs = self.decoder, self.parser, list(docs)
        by_doc = parser.sentences_by_doc(docs)
        given = iter(parser.inputs_of([sentence for sentences in by_doc for sentence in sentences]))
        found, is_alone = [], self._is_alone
        for doc, sentences in zip(docs, by_doc, strict=True):
            is_parsed = not is_alone and set(keys(doc)) <= set(map(_key, sentences))
            annotated = (self._annotated(doc, one, next(given), decoder, is_parsed=is_parsed) for one in sentences)
            found.append([item for items in annotated for item in items])
        return found

    def set_annotations(self, docs: Iterable[Doc], scores: list[list[ParsedSentence]]) -> None:
        """Store the trees that `predict` returned on the Docs, in place of the parser's."""
        parser = self.parser
        for doc, chosen in zip(docs, scores, strict=True):
            if not chosen:
                continue
            remove_mirrors(doc)
            self._remove_others(doc, chosen)
            for item in chosen:
                write_tree(doc, item.sentence.start_char, item.sentence.end_char, item.stored)
            if parser.set_tags:
                write_tags(doc, [(item.sentence, item.tags) for item in chosen])
            if parser.spans_key is not None:
                mirror_trees(doc, parser.spans_key, _stored(doc, parser.sentences_of(doc)))

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: Any = None,
        lists: Any = None,
    ) -> None:
        """Train on n-best lists with gold trees; `get_examples` is not used.

        lists: the path of files with lists (see docs/training.md), or CandidateLists. They must be those of a parser
        that was not trained on the sentences, such as the lists of `spacy-incparse rerank-train`. Without lists, a
        component with weights keeps them. Raises IncparseError if there are neither, or the parser has seen the
        trees.
        """
        from spacy_incparse.rerank.list_folders import training_lists
        from spacy_incparse.rerank.training import learn_reranker

        if lists is None and self.model.learnt is not None:
            return
        if lists is None:
            raise IncparseError(
                f"the component {self.name!r} has no n-best lists to learn from: make them with `spacy-incparse "
                f"rerank-train`, and set [initialize.components.{self.name}] lists to their path"
            )
        parser = self.parser.decoder.model_parser
        self.model.learnt = learn_reranker(training_lists(lists), parser.heads, self.training)

    def gold_sentences(self, examples: Iterable[Example]) -> Iterable[tuple[Tree, Sentence]]:
        """Yield the gold trees of parsed examples with their sentences, as the parser component sees them."""
        return self.parser.gold_sentences(examples)

    def _fitted_temperature(self, gold: Sequence[tuple[Tree, Sentence]]) -> float | None:
        from spacy_incparse.training.temperature import best_temperature

        scores, is_right = [], []
        for tree, sentence in gold:
            parses = self.nbest_parses(sentence, self._reranker().config.n)
            scores.append([parse.score for parse in parses])
            is_right.append(parses[0].tree.spans() == tree.spans())
        return best_temperature(scores, is_right)

    def _set_temperature(self, temperature: float) -> None:
        self.model.temperature, self._decoder = temperature, None

    def _state(self) -> dict[str, Any]:
        # A pipeline cannot be pickled by reference: the copy goes on with the parser component found here.
        return super()._state() | {"_parser": self.find_parser(), "_was_alone": self._is_alone}

    def _remove_others(self, doc: Doc, chosen: Sequence[ParsedSentence]) -> None:
        """Remove the trees of sentences that the Doc no longer has, which the parser would have removed."""
        others = set(keys(doc)).difference(_key(item.sentence) for item in chosen)
        others = others.difference(map(_key, self.parser.sentences_of(doc))) if others else others
        for key in [*others, *keys(doc, MEASURES)] if others else ():
            del user_data(doc)[key]

    @property
    def _is_alone(self) -> bool:
        """Whether the parser is disabled, so that the trees on a Doc are not those of its present sentences."""
        nlp, parser = self.pipeline(), self.find_parser()
        return self._was_alone if nlp is None else all(pipe is not parser for _, pipe in nlp.pipeline)

    def _reranker(self) -> Reranker:
        reranker = self.model.learnt
        if reranker is None:
            raise IncparseError(
                f"the component {self.name!r} has no weights yet: train a pipeline with `spacy-incparse rerank-train`, "
                f"or choose a model, as in nlp.add_pipe('incparse_reranker', config={{'model': PATH}})"
            )
        return reranker

    def _annotated(
        self, doc: Doc, sentence: Sentence, given: Input, decoder: RerankedParser, *, is_parsed: bool
    ) -> Iterator[ParsedSentence]:
        """Yield a sentence with its chosen tree; if there is no choice, with the parser's, unless the Doc has it.

        is_parsed: whether the trees on the Doc are the parser's, and not those of an earlier run.
        """
        chosen = self._reranked(sentence, given, decoder)
        if chosen is not None:
            yield chosen
        elif not is_parsed or _key(sentence) not in user_data(doc):
            yield from self.parser.annotated([sentence], self.parser.decoder)

    def _reranked(self, sentence: Sentence, given: Input, decoder: RerankedParser) -> ParsedSentence | None:
        """Return a sentence with its chosen tree, or None if there is no choice or something fails."""
        try:
            ranked = decoder.nbest_search.ranked(*given)
            if len(ranked) > 1:
                parses = [parse for parse, _ in ranked]
                return encode_parse(sentence, parses[0], decoder.list_fields(parses, ranked[0].probability))
        except Exception as error:
            start = " ".join(sentence.words[:8])
            self._warn_once(
                "error", f"a sentence keeps the parser's tree, because reranking failed ({error!r}): {start!r}"
            )
        return None


def _key(sentence: Sentence) -> Key:
    return key_of(sentence.start_char, sentence.end_char)


def _stored(doc: Doc, sentences: Iterable[Sentence]) -> list[tuple[Sentence, str]]:
    """Return the sentences that have a tree, with the strings that store them."""
    found = ((one, user_data(doc).get(_key(one))) for one in sentences)
    return [(sentence, value) for sentence, value in found if value is not None]


class RerankedParser(ConfiguredParser):
    """A configured parser whose lists are reranked; tags, heads and the number of analyses to store are the parser's.

    search: settings of the reranker that override those of its model.
    """

    def __init__(
        self, base: ConfiguredParser, reranker: Reranker, search: Mapping[str, Any] | None = None, maker: str = ""
    ):
        super().__init__(base.parser, base.tagger, nbest=base.nbest, maker=maker)
        self.base, self.source = base, reranker
        self.reranker = reranker.with_settings(**search) if search else reranker
        self.parser = self.nbest_search.parser
        self.exact = None  # the lists tell the probabilities of their trees

    @cached_property
    def nbest_search(self) -> RerankedSearch:
        """The parser's search for analyses, followed by the reranker."""
        from spacy_incparse.rerank.reranker import RerankedSearch

        return RerankedSearch(self.base.nbest_search, self.base.model_parser, self.reranker)

    @property
    def temperature(self) -> float | None:
        """The reranker's temperature."""
        return self.reranker.temperature

    def list_fields(self, parses: Sequence[Parse], probability: float) -> list[str]:
        """Return all fields for the first of a sentence's reranked analyses, which has this probability."""
        return [*self.fields(parses[0], others=parses[1 : self.nbest]), f"{PROBABILITY}{probability:.6g}"]
