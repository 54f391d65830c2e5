"""The component `incparse`, which parses each sentence of a Doc."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.vocab import Vocab

from spacy_incparse.documents.confidences import forget_confidences
from spacy_incparse.documents.configured_parser import ConfiguredParser
from spacy_incparse.documents.doc_tags import write_tags
from spacy_incparse.documents.doc_tree_scores import score_doc_tree
from spacy_incparse.documents.extensions import register_extensions
from spacy_incparse.documents.live_parsers import register
from spacy_incparse.documents.noun_chunks import use_tree_chunks
from spacy_incparse.documents.sentences import Sentence, Texts, has_sentence_bounds, split_sentences
from spacy_incparse.documents.span_constraints import constrained, shown
from spacy_incparse.documents.span_mirror import mirror_trees
from spacy_incparse.documents.tree_storage import clear_trees, write_tree
from spacy_incparse.documents.word_measures import clear_measures, measure_sentence, write_measures
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.parsers.catalogue import check_search, kinds
from spacy_incparse.parsers.constraints import Constraint
from spacy_incparse.parsers.parse import Parse, Tags
from spacy_incparse.parsers.protocol import ConstituencyParser, Session
from spacy_incparse.pipeline.annotate import ParsedSentence, annotate, nbest_parses
from spacy_incparse.pipeline.component_model import ParserModel, check_source, is_being_loaded
from spacy_incparse.pipeline.parser_training import TrainingRun, gold_trees, gold_with_sentences
from spacy_incparse.pipeline.scorers import const_score
from spacy_incparse.pipeline.trained_pipe import TrainedPipe, unpickled
from spacy_incparse.training.training_settings import TRAINING_DEFAULTS, check_training
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.parsers.tree_scores import TreeScore

register_extensions()

DEFAULT_CONFIG: dict[str, Any] = {
    "model": None,
    "tags": "own",
    "set_tags": False,
    "spans_key": None,
    "required_key": None,
    "forbidden_key": None,
    "nbest": 0,
    "measures": False,
    "noun_chunks": False,
    "search": {},
    "training": TRAINING_DEFAULTS,
    "scorer": {"@scorers": "spacy_incparse.const_scorer.v1"},
}


@Language.factory(
    "incparse",
    assigns=["doc._.trees", "span._.tree", "span._.is_constituent", "token._.tree_path", "token._.incparse"],
    requires=["doc.sents"],
    default_config=DEFAULT_CONFIG,
    default_score_weights={"const_f": 1.0, "const_p": 0.0, "const_r": 0.0, "const_exact": 0.0},
)
def make_incparse(
    nlp: Language,
    name: str,
    model: str | Path | None,
    tags: str,
    set_tags: bool,
    spans_key: str | None,
    required_key: str | None,
    forbidden_key: str | None,
    nbest: int,
    measures: bool,
    noun_chunks: bool,
    search: dict[str, Any],
    training: dict[str, Any],
    scorer: Callable | None,
) -> IncParser:
    """Create the component.

    model: the source of the weights: "en" (the embedded pipeline), the path of a saved pipeline, an installed package,
        or None for a component that will be trained or loaded from disk. The source is checked immediately, and read
        when it is first needed.
    tags: "own" uses the tags of the model's own tagger; "doc" uses token.tag_, and own tags only if it is empty.
    set_tags: whether to write the tags that the parser used to token.tag_.
    spans_key: if given, also write the phrases to doc.spans under this name, in pre-order.
    required_key, forbidden_key: if given, names of groups in doc.spans with phrases that the trees must (or must not)
        contain. The label of a span is the label of the phrase; an empty label stands for any.
    nbest: if above 1, store this many analyses of each sentence, so that `doc._.parses` and `tree.confidence` work
        without the pipeline. Otherwise they use the pipeline, and parsing is faster.
    measures: whether to store surprisal and other measures of each word, for `token._.incparse`; only with a generative
        model.
    noun_chunks: whether `doc.noun_chunks` returns the base noun phrases of the trees, without a dependency parser.
    search: settings of the search, such as beam_size and gamma; the others are taken from the model.
    training: settings of training, see `TRAINING_DEFAULTS`; they are only used in training.
    scorer: as in every spaCy component.
    """
    parts = check_source(nlp, name, model, ParserModel)
    if not is_being_loaded(nlp, name):
        check_training(training)
    if measures and parts and not any(kind.has_measures and kind.part_name in parts for kind in kinds().values()):
        raise ConfigError(
            f"{name}: measures need a generative model, such as 'en_generative', but {model!r} is not one"
        )
    return IncParser(
        nlp.vocab,
        ParserModel(model),
        name,
        tags=tags,
        set_tags=set_tags,
        spans_key=spans_key,
        required_key=required_key,
        forbidden_key=forbidden_key,
        nbest=nbest,
        measures=measures,
        noun_chunks=noun_chunks,
        search=search,
        training=training,
        scorer=scorer,
    )


class IncParser(TrainedPipe):
    """A constituency parser as a trainable spaCy component. See `make_incparse` for all settings."""

    is_reranker = False

    def __init__(
        self,
        vocab: Vocab,
        model: ParserModel,
        name: str = "incparse",
        *,
        tags: str = "own",
        set_tags: bool = False,
        spans_key: str | None = None,
        required_key: str | None = None,
        forbidden_key: str | None = None,
        nbest: int = 0,
        measures: bool = False,
        noun_chunks: bool = False,
        search: dict[str, Any] | None = None,
        training: dict[str, Any] | None = None,
        scorer: Callable | None = const_score,
    ):
        keys = [key for key in (spans_key, required_key, forbidden_key) if key is not None]
        if len(set(keys)) < len(keys):
            raise ConfigError(f"{name}: spans_key, required_key and forbidden_key must name different groups: {keys}")
        self.vocab, self.model, self.name, self.cfg, self.scorer = vocab, model, name, dict[str, Any](), scorer
        self.tags, self.set_tags, self.spans_key = tags, set_tags, spans_key
        self.required_key, self.forbidden_key = required_key, forbidden_key
        self.measures, self.noun_chunks = measures, noun_chunks
        if noun_chunks:
            use_tree_chunks(vocab)
        self._decoder: ConfiguredParser | None = None
        self.search = search or {}
        self.nbest = nbest
        self.training = TRAINING_DEFAULTS | (training or {})
        self._run: TrainingRun | None = None
        self._warned: set[str] = set()
        register(self)

    @property
    def search(self) -> Mapping[str, Any]:
        """The search settings that differ from the model's; a new dict can be assigned at any time."""
        return MappingProxyType(self._search)  # a change to the dict itself would not be checked

    @search.setter
    def search(self, search: Mapping[str, Any]) -> None:
        check_search(dict(search))  # reports errors here and not at the first text
        self._search, self._decoder = dict(search), None

    @property
    def tags(self) -> str:
        """The source of the tags, "own" or "doc"; can be changed at any time."""
        return self._tags

    @tags.setter
    def tags(self, tags: str) -> None:
        if tags not in ("own", "doc"):
            raise ConfigError(f"{self.name}: tags = {tags!r} must be 'own' or 'doc'")
        self._tags = tags

    @property
    def nbest(self) -> int:
        """The number of analyses to store for each sentence; can be changed at any time."""
        return self._nbest

    @nbest.setter
    def nbest(self, nbest: int) -> None:
        if isinstance(nbest, bool) or not isinstance(nbest, int) or nbest < 0:
            raise ConfigError(f"{self.name}: nbest = {nbest!r} must be a whole number of 0 or more")
        self._nbest, self._decoder = nbest, None

    @property
    def labels(self) -> tuple[str, ...]:
        """The phrase labels that the model can assign; () before training."""
        return self.model.labels

    @property
    def label_data(self) -> dict[str, list[str]]:
        """The labels and the tags that the model knows, for `spacy init labels`."""
        return {"labels": list(self.model.labels), "tags": list(self.model.tags)}

    @property
    def decoder(self) -> ConfiguredParser:
        """The parser with its tagger and the component's search. Raises IncparseError if there are no weights."""
        parser = self.model.parser
        if parser is None:
            raise IncparseError(
                f"the component {self.name!r} has no weights yet: choose a model, as in "
                f"nlp.add_pipe('incparse', config={{'model': 'en'}}), load a whole pipeline with "
                f"spacy_incparse.load('en'), or train it (nlp.initialize() and `spacy train`)"
            )
        known = self._decoder
        if known is None or known.model_parser is not parser or known.tagger is not self.model.tagger:
            known = self._decoder = ConfiguredParser(parser, self.model.tagger, self._search, self.nbest)
        return known

    def sentences_of(self, doc: Doc, texts: Texts | None = None) -> list[Sentence]:
        """Return the sentences of a Doc with the constraints from its span groups; `texts` as in `split_sentences`."""
        sentences = split_sentences(doc, texts)
        if self.required_key is None and self.forbidden_key is None:
            return sentences
        sentences, outside = constrained(doc, sentences, self.required_key, self.forbidden_key)
        if outside:
            text = outside[0].text
            self._warn_once(
                "outside", f"spans that cross sentence boundaries are ignored as constraints, such as {text!r}"
            )
        return sentences

    def with_constraints(self, doc: Doc, sentence: Sentence) -> Sentence:
        """Return a sentence with the current constraints on its Doc."""
        return constrained(doc, [sentence], self.required_key, self.forbidden_key)[0][0]

    def tags_for(self, sentence: Sentence) -> Tags:
        """Return the tags to parse a sentence with, given its words and the tags on its Doc."""
        return self.tags_of([sentence])[0]

    def tags_of(self, sentences: Sequence[Sentence]) -> Sequence[Tags]:
        """Return the tags to parse sentences with, which takes less time than to ask for those of each."""
        return self.decoder.tags_for(sentences, use_given=self.tags == "doc")

    def nbest_parses(self, sentence: Sentence, k: int) -> list[Parse]:
        """Return up to `k` analyses of a sentence, the component's own first; a flat tree if parsing fails."""
        return nbest_parses(sentence, self.decoder, k, use_given_tags=self.tags == "doc")

    def start(self) -> Session:
        """Return a session to parse a sentence word by word: `session = session.push(word)`, then `session.best()`.

        The analyses of a perceptron lag behind the input by its look-ahead, and words pushed without a tag are tagged
        by its own tagger. Raises IncparseError if there are no weights.
        """
        return self.decoder.parser.start(self.model.tagger)

    def predict(self, docs: Iterable[Doc]) -> list[list[ParsedSentence]]:
        """Return the sentences of each Doc with their trees, without modifying the Docs."""
        docs = list(docs)
        decoder = self.decoder
        if not all(has_sentence_bounds(doc) for doc in docs):
            self._warn_once("bounds", "a Doc without sentence boundaries is parsed as one sentence: add a sentencizer")
        texts = Texts(self.vocab.strings)
        by_doc = [self.sentences_of(doc, texts if doc.vocab is self.vocab else None) for doc in docs]
        sentences = [sentence for group in by_doc for sentence in group]
        if self.tags == "doc":
            self._check_tags(sentences, decoder.parser)
        use_given_tags = self.tags == "doc"
        parsed = iter(annotate(sentences, decoder, self._on_error, self._on_unmet, use_given_tags=use_given_tags))
        if self.measures:
            parsed = map(self._with_measures, parsed)
        return [list(islice(parsed, len(group))) for group in by_doc]

    def set_annotations(self, docs: Iterable[Doc], scores: list[list[ParsedSentence]]) -> None:
        """Store the trees that `predict` returned on the Docs, replacing existing trees."""
        for doc, parsed in zip(docs, scores, strict=True):
            clear_trees(doc)
            clear_measures(doc)
            if self.noun_chunks:
                use_tree_chunks(doc)  # created with another vocab, or before the component
            for item in parsed:
                write_tree(doc, item.sentence.start_char, item.sentence.end_char, item.stored)
                if item.measures is not None:
                    write_measures(doc, item.sentence, item.measures)
            if self.set_tags and parsed:
                write_tags(doc, [(item.sentence, item.tags) for item in parsed])
            if self.spans_key is not None:
                mirror_trees(doc, self.spans_key, [(item.sentence, item.stored) for item in parsed])

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, list[str]] | None = None,
        fine_tune: bool = False,
    ) -> None:
        """Read grammar and lexicon from all examples and train the component's tagger; `update` then trains the parser.

        labels: accepted because spaCy passes it, but not enough without the treebank: a grammar is more than labels.
        fine_tune: continue from the component's weights and keep its tagger. Otherwise they are dropped, unless no
        example has a tree. Raises IncparseError if there are neither trees nor weights, or no weights to fine-tune.
        """
        trees = gold_trees(get_examples())
        if not trees and self.model.parser is not None:
            return
        if not trees:
            raise IncparseError(
                f"the component {self.name!r} found no gold trees to learn from: read the treebank with "
                f"@readers = 'spacy_incparse.TreebankReader.v1', or convert it with `spacy-incparse convert`"
            )
        if fine_tune:
            self._fine_tuning_run().extend_by_trees(trees)
            return
        lang = (nlp.lang if nlp is not None else self.vocab.lang) or "xx"
        self._run = TrainingRun.start(trees, self.training | self._search, lang=lang)
        self.model.start_training(self._run.learner, self._run.tagger)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from each sentence of the examples in turn, in an order that depends only on the seed.

        A loaded component is fine-tuned: it continues from its averaged weights, and keeps its tagger. The loss is the
        number of sentences that the parser got wrong before the update. `drop` and `sgd` are ignored. A parser that is
        trained in one pass has learned everything in `initialize`, so its loss is 0. Raises IncparseError if there are
        no weights, or the parser's kind cannot be fine-tuned.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "IncParser.update")
        losses[self.name] += (self._run or self._fine_tuning_run()).update(examples, use_given_tags=self.tags == "doc")
        return losses

    def rehearse(self, examples: Iterable[Example], **kwargs: Any) -> None:
        """Warn that rehearsal, which is for neural components, does nothing here."""
        self._warn_once(
            "rehearse", "rehearse() does nothing here: to prevent forgetting, mix old trees with the new ones"
        )

    def score(self, examples: Any, tree: Tree | str | None = None, **kwargs: Any) -> Any:
        """Return the scores of Examples, computed by the component's scorer as in every component.

        With a Doc and a tree, return the parser's score of the tree (see `score_tree`). Raises IncparseError for one
        without the other.
        """
        if isinstance(examples, Doc) or tree is not None:
            return self.score_tree(examples, tree, **kwargs)  # type: ignore[arg-type]  # it reports what is wrong
        return super().score(examples, **kwargs)

    def score_tree(self, doc: Doc, tree: Tree | str, *, gold_tags: bool = False) -> TreeScore:
        """Return the score and derivation of a tree (or its brackets) of one of the Doc's sentences.

        The tags are those that the component would parse with, or the tree's own with `gold_tags`. Raises IncparseError
        if no sentence has the tree's words.
        """
        return score_doc_tree(self, doc, tree, gold_tags=gold_tags)

    def calibrate(self, examples: Iterable[Example]) -> float | None:
        """Fit the temperature, which turns scores into probabilities, on examples not used in training.

        The sentences are those of the gold trees, with the tags that the component would use. Return the temperature,
        which is saved with the weights; or None, without changing anything, if no example has a gold tree.
        """
        from spacy_incparse.training.temperature import MAX_SENTENCES, fit_temperature

        gold = list(islice(gold_with_sentences(examples), MAX_SENTENCES))
        tags = [self.tags_for(sentence) for _, sentence in gold]
        temperature = fit_temperature(self.decoder.parser, [tree for tree, _ in gold], tags)
        if temperature is not None:
            self.model.temperature, self._decoder = temperature, None
            forget_confidences()
        return temperature

    def __reduce__(self):
        left_behind = {"_run": None, "_decoder": None}  # the training state, and the cached decoder
        return unpickled, (type(self), self.vocab, self.model, self.name, self.scorer, self.__dict__ | left_behind)

    def _with_measures(self, item: ParsedSentence) -> ParsedSentence:
        tags = self.tags_for(item.sentence)
        return replace(item, measures=measure_sentence(self.decoder.parser, self.name, item.sentence, tags))

    def _fine_tuning_run(self) -> TrainingRun:
        """Start learning from the current weights."""
        parser = self.model.parser
        if parser is None:
            raise IncparseError(
                f"the component {self.name!r} has no weights to train: call nlp.initialize() with the training "
                f"examples first, or give it a model, as in nlp.add_pipe('incparse', config={{'model': 'en'}})"
            )
        self._run = TrainingRun.go_on(parser, self.model.tagger, self.training["seed"])
        self.model.start_training(self._run.learner, self._run.tagger, parser.temperature)
        return self._run

    def _check_tags(self, sentences: list[Sentence], parser: ConstituencyParser) -> None:
        if "tags" not in self._warned:
            unknown = {tag for sentence in sentences for tag in sentence.tags} - {"", *parser.tags}
            if unknown:
                named = ", ".join(sorted(unknown)[:10]) + (", ..." if len(unknown) > 10 else "")
                self._warn_once("tags", f"the Docs have tags that the parser's model does not know: {named}")

    def _on_error(self, sentence: Sentence, error: Exception) -> None:
        start = " ".join(sentence.words[:8])
        self._warn_once("error", f"a sentence got a flat tree, because parsing failed ({error!r}): {start!r}")

    def _on_unmet(self, sentence: Sentence, constraints: Sequence[Constraint]) -> None:
        what = f"no tree was found with {shown(constraints, sentence.words)}"
        warnings.warn(f"{self.name}: {what}: dropped in {' '.join(sentence.words[:8])!r}", stacklevel=3)

    def _warn_once(self, kind: str, text: str) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            warnings.warn(f"{self.name}: {text} (this warning is shown once)", stacklevel=3)
