"""The component `incparse`, which parses each sentence of a Doc."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.language import Language
from spacy.training import Example
from spacy.util import logger
from spacy.vocab import Vocab

from spacy_incparse.documents.extensions import measure_sentence
from spacy_incparse.documents.gold import check_found, gold_sentences, gold_trees
from spacy_incparse.documents.live_parsers import ConfiguredParser
from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.parsing.catalogue import find_kind, kind_of, kinds
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.parsing.parser import FineTuner, Learner, Parser, Session, TagRequest
from spacy_incparse.pipeline.model import ParserModel, check_source, is_being_loaded
from spacy_incparse.pipeline.tree_pipe import TREE_DEFAULTS, ParsedSentence, TreePipe, tree_factory
from spacy_incparse.training.settings import TRAINING_DEFAULTS, check_training, head_rules, own_settings
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.tagging.tagger import Tagger


DEFAULT_CONFIG: dict[str, Any] = {"model": None, **TREE_DEFAULTS, "measures": False, "training": TRAINING_DEFAULTS}


@tree_factory("incparse", DEFAULT_CONFIG, "token._.incparse")
def make_incparse(
    nlp: Language, name: str, model: str | Path | None, measures: bool, training: dict[str, Any], **settings: Any
) -> IncParser:
    """Create the component. Its other settings are those of `TreeSettings`.

    model: the source of the weights: "en" (the embedded pipeline), the path of a saved pipeline, an installed package,
        or None for a component that will be trained or loaded. It is checked at once, and read when first needed.
    measures: whether to store surprisal and other measures of each word, for `token._.incparse`; only with a generative
        model.
    training: settings of training, see `TRAINING_DEFAULTS`.
    """
    parts = check_source(nlp, name, model, ParserModel)
    if not is_being_loaded(nlp, name):
        check_training(training)
    found = [kind for kind in kinds().values() if kind.part_name in parts]
    for kind in found:
        kind.check_search(settings["search"])
    if measures and parts and not any(kind.has_measures for kind in found):
        raise ConfigError(
            f"{name}: measures need a generative model, such as 'en_generative', but {model!r} is not one"
        )
    return IncParser(nlp.vocab, ParserModel(model), name, measures=measures, training=training, **settings)


class IncParser(TreePipe):
    """A constituency parser as a trainable spaCy component. See `make_incparse` for all settings."""

    def __init__(
        self,
        vocab: Vocab,
        model: ParserModel,
        name: str = "incparse",
        *,
        measures: bool = False,
        training: dict[str, Any] | None = None,
        **settings: Any,
    ):
        super().__init__(vocab, model, name, **settings)
        self.measures = measures
        self.training = TRAINING_DEFAULTS | (training or {})
        self._run: TrainingRun | None = None

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
        if known is None or known.model_parser is not parser:
            known = self._decoder = ConfiguredParser(parser, self.model.tagger, self._search, self.nbest, self.maker)
        return known

    @property
    def weights_id(self) -> str:
        """An id of the weights; "" if there are none, or if they have not been loaded or are being trained."""
        return self.model.checksum

    def check_search(self, search: dict[str, Any]) -> None:
        """Raise ConfigError if a setting is unknown, has a wrong value, or belongs to parsers of another kind."""
        super().check_search(search)
        if self.model.source is None and self.model.parser is not None:  # otherwise its weights are not loaded yet
            self.model.parser.with_search(**search)

    def _check_loaded(self, exclude: Iterable[str]) -> None:
        self.check_search(self._search)

    def start(self) -> Session:
        """Return a session to parse a sentence word by word: `session = session.push(word)`, then `session.best()`.

        The analyses of a perceptron lag behind the input by its look-ahead, and words pushed without a tag are tagged
        by its own tagger. Raises IncparseError if there are no weights.
        """
        return self.decoder.parser.start(self.model.tagger)

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
        check_found(trees, self.name)
        if fine_tune:
            self._fine_tuning_run().extend_by_trees(trees)
            return
        lang = (nlp.lang if nlp is not None else self.vocab.lang) or "xx"
        self._run = TrainingRun.start(trees, self.training | self._search, lang=lang)
        self.model.start_training(self._run.learner, self._run.tagger)

    def update(
        self, examples: Iterable[Example], *, losses: dict[str, float] | None = None, **kwargs: Any
    ) -> dict[str, float]:
        """Learn from each sentence of the examples in turn, in an order that depends only on the seed.

        A loaded component is fine-tuned: it continues from its averaged weights, and keeps its tagger. The loss is the
        number of sentences that the parser got wrong before the update. spaCy's other arguments are ignored. A parser
        that is trained in one pass has learned everything in `initialize`, so its loss is 0. Raises IncparseError if
        there are no weights, or the parser's kind cannot be fine-tuned.
        """
        examples = list(examples)
        losses = super().update(examples, losses=losses)
        run = self._run
        if run is None or run.learner is not self.model.learner:  # other weights have been loaded since
            run = self._fine_tuning_run()
        losses[self.name] += run.update(examples, use_given_tags=self.tags == "doc")
        return losses

    def _state(self) -> dict[str, Any]:
        return super()._state() | {"_run": None}  # the training state stays behind

    def _set_temperature(self, temperature: float) -> None:
        self.model.temperature, self._decoder = temperature, None

    def _measured(self, item: ParsedSentence) -> ParsedSentence:
        _, tags, *_ = self.input_of(item.sentence)
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

    def _check_tags(self, sentences: Sequence[Sentence], parser: Parser) -> None:
        if self.tags == "doc" and "tags" not in self._warned:
            unknown = {tag for sentence in sentences for tag in sentence.tags} - {"", *parser.tags}
            if unknown:
                named = ", ".join(sorted(unknown)[:10]) + (", ..." if len(unknown) > 10 else "")
                self._warn_once("tags", f"the Docs have tags that the parser's model does not know: {named}")


class GoldSentence(NamedTuple):
    """A sentence to learn from: its words, the tags that it is parsed under, and its normalized tree."""

    words: tuple[str, ...]
    tags: Tags
    tree: Tree

    def key(self) -> tuple:
        """Return a key that distinguishes it from other sentences."""
        return (
            self.words,
            tuple(tuple(tag) if isinstance(tag, list) else tag for tag in self.tags),
            self.tree.arrays.labels,
        )


@dataclass
class TrainingRun:
    """The learner and what it needs in addition to the examples: the tags to train on, and the order of sentences."""

    learner: Learner
    tagger: Tagger | None
    seed: int
    request: TagRequest | None = None
    gold_tag_interval: int = 0
    tags: dict[tuple[str, ...], Tags] = field(default_factory=dict)  # by the words of a training sentence
    n_batches: int = 0  # seen so far; with the seed it determines the order of the next one
    encoded: dict[tuple, object] = field(default_factory=dict)
    tuner: FineTuner | None = None  # the learner, if it continues from a trained parser and is extended by examples
    known: set[tuple] = field(default_factory=set)  # sentences that it has been extended by

    @classmethod
    def start(cls, trees: Sequence[Tree], settings: Mapping[str, Any], *, lang: str) -> TrainingRun:
        """Train the tagger on the trees if the parser needs one, tag them, and read grammar and lexicon."""
        from spacy_incparse.training.preparation import TrainingTask

        kind = kind_of(settings)
        config = kind.config(own_settings(settings, kind))
        heads = head_rules(settings["heads"], lang)
        task = TrainingTask(kind, trees, config, heads, settings["n_folds"], settings["tagger"], settings["seed"])
        tagger, tags, learner = task.prepare()
        by_words = {tree.words: row for tree, row in zip(trees, tags, strict=True)}
        needs = task.needs
        return cls(learner, tagger, task.seed, needs.tag_request, needs.gold_tag_interval, by_words)

    @classmethod
    def go_on(cls, parser: Parser, tagger: Tagger | None, seed: int) -> TrainingRun:
        """Continue from a trained parser. Raises IncparseError if its kind cannot be fine-tuned."""
        tuner = find_kind(parser.kind).fine_tuner(parser)
        return cls(tuner, tagger, seed, parser.tag_request, tuner=tuner)

    def update(self, examples: Iterable[Example], *, use_given_tags: bool) -> int:
        """Learn from the examples' sentences in random order; return how many of them the parser got wrong before.

        With several models, this is their mean, rounded.
        """
        from spacy_incparse.training.passes import convergence_of, learn_pass, uses_gold_tags

        sentences = list(self._sentences(examples, use_given_tags))
        # spaCy sorts and shuffles batches with its own generators. Sorting first makes the order independent of them.
        sentences.sort(key=lambda sentence: (sentence.words, sentence.tree.arrays.labels))
        self.extend(sentences)
        self.n_batches += 1
        batch = [
            self._encode(
                sentence._replace(tags=sentence.tree.tags)
                if uses_gold_tags(i, self.n_batches, self.gold_tag_interval)
                else sentence
            )
            for i, sentence in enumerate(sentences)
        ]
        _, n_wrong = learn_pass(batch, self.learner, self.seed, self.n_batches)
        reached = convergence_of(self.learner)
        if reached is not None:
            logger.info("batch %d: %s", self.n_batches, reached.note)
        return round(n_wrong / self.learner.n_models)

    def extend(self, sentences: Iterable[GoldSentence]) -> None:
        """Extend a learner that is being fine-tuned by the sentences that are new to it."""
        new = {sentence.key(): sentence for sentence in sentences} if self.tuner else {}
        new = {key: sentence for key, sentence in new.items() if key not in self.known}
        if self.tuner and new:
            self.tuner.extend([s.tree for s in new.values()], [s.tags for s in new.values()])
            self.known.update(new)
            self.encoded.clear()  # its moves have new numbers

    def extend_by_trees(self, trees: Iterable[Tree]) -> None:
        """Extend a learner that is being fine-tuned by all trees at once, under the tagger's tags."""
        self.extend([GoldSentence(tree.words, self._tags_of(tree.words), tree) for tree in trees])

    def _encode(self, sentence: GoldSentence) -> object:
        """Return the encoded sentence, which is encoded once and not in every pass."""
        key = sentence.key()
        if key not in self.encoded:
            self.encoded[key] = self.learner.encode(*sentence)
        return self.encoded[key]

    def _sentences(self, examples: Iterable[Example], use_given_tags: bool) -> Iterator[GoldSentence]:
        for example in examples:
            given = _given_tags(example) if use_given_tags else None
            for first, tree in gold_sentences(example).trees:
                words = tree.words
                yield GoldSentence(words, given[first : first + len(words)] if given else self._tags_of(words), tree)

    def _tags_of(self, words: tuple[str, ...]) -> Tags:
        tags = self.tags.get(words)
        if tags is not None:
            return tags
        if self.tagger is None:
            return [None] * len(words)
        return self.tagger.candidate_tags([words], *(self.request or TagRequest()))[0]


def _given_tags(example: Example) -> list[str] | None:
    tags = [token.tag_ for token in example.predicted if not token.is_space]
    return tags if all(tags) else None
