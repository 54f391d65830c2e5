"""The component `incparse_neural`, which parses with a neural model on any layer of word vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary
from zlib import crc32

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Config, Model, set_dropout_rate

from spacy_incparse.documents.gold import check_found, gold_sentences, gold_trees, gold_with_sentences
from spacy_incparse.documents.live_parsers import ConfiguredParser
from spacy_incparse.documents.sentences import Sentence, split_sentences
from spacy_incparse.errors import ConfigError, IncparseError, ModelError
from spacy_incparse.parsing.parse import Input
from spacy_incparse.parsing.parser import Session
from spacy_incparse.pipeline.tree_pipe import TREE_DEFAULTS, ParsedSentence, TreePipe, tree_factory
from spacy_incparse.settings import check_choice, check_number, check_range
from spacy_incparse.training.settings import head_rules
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.neural.brackets import Chain
    from spacy_incparse.neural.span_parser import SpanParser
    from spacy_incparse.neural.span_scorer import CutDocs, ModelScorer, SpanScores

DEFAULT_MODEL = """
[model]
@architectures = "spacy_incparse.SpanScorer.v1"
hidden_width = 256
form_width = 0

[model.tok2vec]
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 96
depth = 4
embed_size = 2000
window_size = 1
maxout_pieces = 3
subword_features = true
"""
LOSS_NAMES = ("crf", "local", "max-margin")
N_SAMPLE = 10  # examples that the model is initialized with
DEFAULT_CONFIG: dict[str, Any] = {
    "model": Config().from_str(DEFAULT_MODEL)["model"],
    **TREE_DEFAULTS,
    "heads": None,
    "loss": "crf",
    "tag_weight": 1.0,
    "learn_rate_scale": 1.0,
    "max_length": 400,
}
del DEFAULT_CONFIG["ptb_words"]  # its word vectors are those of the Doc


@tree_factory("incparse_neural", DEFAULT_CONFIG)
def make_incparse_neural(
    nlp: Language, name: str, model: Model, heads: str | None, loss: str, tag_weight: float, learn_rate_scale: float,
    max_length: int, **settings: Any,
) -> IncNeural:  # fmt: skip
    """Create the component. Its other settings are those of `TreeSettings`.

    model: the model, see `spacy_incparse.SpanScorer.v1`.
    tags: "own" shows the model's tags in the trees; "doc" token.tag_ where there is one, but the model does not see it.
    search: settings of `SpanSearch`.
    heads: "en", "any", or the path of a table; None: that of the language.
    loss: "crf", "max-margin" or "local", see `neural/brackets.py`; only used in training.
    tag_weight: the weight of the tags' loss in training.
    learn_rate_scale: the layers above the word vectors learn so many times as fast as these.
    max_length: longer sentences are left out in training and parsed in pieces of at most so many words.
    """
    settings |= {"loss": loss, "tag_weight": tag_weight, "learn_rate_scale": learn_rate_scale, "max_length": max_length}
    return IncNeural(nlp.vocab, model, name, heads=head_rules(heads, nlp.lang or "xx"), **settings)


class IncNeural(TreePipe):
    """A constituency parser with a neural model. See `make_incparse_neural` for all settings.

    In addition to the model's weights, `cfg` stores the labels and tags, the head rules and the temperature.
    """

    model: Any
    max_calibrated = 200  # enough for one number

    def __init__(
        self, vocab: Vocab, model: Model, name: str = "incparse_neural", *, heads: HeadRules | None = None,
        loss: str = "crf", tag_weight: float = 1.0, learn_rate_scale: float = 1.0, max_length: int = 400,
        **settings: Any,
    ):  # fmt: skip
        check_choice(f"{name}: loss", loss, LOSS_NAMES)
        check_range("tag_weight", tag_weight, 0, 1e6)
        check_range("learn_rate_scale", learn_rate_scale, 0, 1e6)
        check_number("max_length", max_length, 1, 5000)
        self.loss, self.tag_weight = loss, tag_weight
        self.learn_rate_scale, self.max_length = learn_rate_scale, max_length
        if not {"tok2vec", "head"} <= set(model.ref_names):
            raise ConfigError(f"{name}: the model is {model.name!r}: it must be a spacy_incparse.SpanScorer.v1")
        self._vectors: WeakKeyDictionary[Doc, Any] = WeakKeyDictionary()  # of the last Doc that analyses were asked of
        self._weights_id = ""  # if it is known
        super().__init__(vocab, model, name, **settings)
        rules = HeadRules.from_name("any") if heads is None else heads
        self.cfg.update(chains=[], tags=[], heads=rules.to_dict(), temperature=None)

    def check_search(self, search: dict[str, Any]) -> None:
        """Raise ConfigError if a search setting is unknown or has a value that it cannot have."""
        from spacy_incparse.neural.span_parser import SpanSearch

        SpanSearch().with_search(**search)

    @property
    def labels(self) -> tuple[str, ...]:
        """The phrase labels that the model can assign, sorted; () before training."""
        return tuple(sorted({label for chain in self.cfg["chains"] for label in chain}))

    @property
    def label_data(self) -> dict[str, list]:
        """The labels, each all phrases over the same words, and the tags, for `spacy init labels`."""
        return {"labels": self.cfg["chains"], "tags": self.cfg["tags"]}

    @property
    def decoder(self) -> NeuralDecoder:
        """The parser with the model. Raises IncparseError if it is not trained."""
        from spacy_incparse.neural.span_parser import SpanParser
        from spacy_incparse.neural.span_scorer import ModelScorer, score_tolerance

        if not isinstance(self._decoder, NeuralDecoder):
            if not self._is_initialized:
                raise IncparseError(
                    f"the component {self.name!r} has no weights yet: load a whole pipeline with spacy.load(path), or "
                    f"train it (`spacy-incparse train --config neural`, or nlp.initialize() and `spacy train`)"
                )
            scorer, heads = ModelScorer(self.model), HeadRules.from_dict(self.cfg["heads"])
            fitted = {"temperature": self.cfg["temperature"], "score_tolerance": score_tolerance(self.model)}
            parser = SpanParser(scorer, self._chains, self.cfg["tags"], heads, **fitted)
            settings = self._search, self.nbest, self.maker
            self._decoder = NeuralDecoder(parser, scorer, *settings, max_length=self.max_length)
        return self._decoder

    @property
    def _chains(self) -> list[Chain]:
        return [tuple(chain) for chain in self.cfg["chains"]]

    @property
    def weights_id(self) -> str:
        """A checksum of the layers above the word vectors; "" without weights."""
        if not self._weights_id and self._is_initialized:
            checksum = 0
            for layer in self.model.get_ref("head").walk():
                for name in layer.param_names:
                    checksum = crc32(layer.ops.to_numpy(layer.get_param(name)).tobytes(), checksum)
            self._weights_id = f"{checksum:08x}"
        return self._weights_id

    def sentences_by_doc(self, docs: Sequence[Doc]) -> list[list[Sentence]]:
        """Return the sentences of each Doc with their constraints and the vectors of their words.

        All Docs go through the layer of word vectors together. Raises IncparseError if a Doc has lost those that
        another component computed.
        """
        from spacy_incparse.neural.span_scorer import CutDocs, check_listened, cut_vectors

        by_doc = super().sentences_by_doc(docs)
        if not any(by_doc):
            return by_doc
        self.decoder  # noqa: B018  # raises its error if there are no weights
        check_listened(self.model.get_ref("tok2vec"), docs, self.name)
        given = CutDocs(list(docs), [[sentence.tokens for sentence in group] for group in by_doc])
        vectors = iter(cut_vectors(self.model, given))
        return [[replace(sentence, seen=next(vectors)) for sentence in group] for group in by_doc]

    def with_constraints(self, doc: Doc, sentence: Sentence) -> Sentence:
        """Return a sentence with the current constraints on its Doc, and vectors if its words are tokens of the Doc.

        Raises IncparseError if the Doc has lost the vectors that another component computed.
        """
        from spacy_incparse.neural.span_scorer import CutDocs, check_listened, cut_vectors

        sentence = super().with_constraints(doc, sentence)
        tokens = tokens_of(doc, sentence)
        if tokens is None or not self._is_initialized:
            return sentence
        if doc not in self._vectors:  # those of all sentences of a Doc are computed at once, and kept
            self._vectors.clear()
            check_listened(self.model.get_ref("tok2vec"), [doc], self.name)
            cuts = [sentence.tokens for sentence in split_sentences(doc)]
            vectors = cut_vectors(self.model, CutDocs([doc], [cuts]))
            self._vectors[doc] = dict(zip(map(tuple, cuts), vectors, strict=True))
        found = self._vectors[doc].get(tuple(tokens))
        if found is None:  # the tokens are no sentence of the Doc
            (found,) = cut_vectors(self.model, CutDocs([doc], [[tokens]]))
        return replace(sentence, seen=found)

    def start(self) -> Session:
        """Raise IncparseError: the model only reads whole sentences."""
        return self.decoder.parser.start()

    def add_label(self, label: str) -> int:
        """Add a phrase label; return 1, or 0 if it is known. A trained model can learn it from more trees."""
        if label in self.labels:
            return 0
        self._add_outputs([(label,)], [])
        return 1

    def add_labels_of(self, trees: Iterable[Tree]) -> None:
        """Add the labels and tags of normalized gold trees that a trained model does not know yet, to learn them.

        The temperature has to be fitted again, after training.
        """
        from spacy_incparse.neural.brackets import chains_of

        trees = list(trees)
        self._add_outputs(chains_of(trees), sorted({tag for tree in trees for tag in tree.tags}))
        self._set_temperature(None)

    def _add_outputs(self, chains: Iterable[Chain], tags: Iterable[str]) -> None:
        from spacy_incparse.neural.span_scorer import grow_outputs

        known_chains, known_tags = self.cfg["chains"], self.cfg["tags"]
        known_chains += [list(chain) for chain in chains if list(chain) not in known_chains]
        known_tags += [tag for tag in tags if tag not in known_tags]
        if self._is_initialized:
            grow_outputs(self.model.get_ref("head"), len(known_chains), len(known_tags))
        self._forget()

    def predict(self, docs: Iterable[Doc]) -> list[list[ParsedSentence]]:
        """Return the sentences of each Doc with their trees, without modifying the Docs."""
        self._vectors.clear()
        return super().predict(docs)

    def initialize(
        self, get_examples: Callable[[], Iterable[Example]], *, nlp: Language | None = None,
        labels: dict[str, list] | None = None,
    ) -> None:  # fmt: skip
        """Read the labels and tags from all examples, or take them from `labels`, and initialize the model.

        Raises IncparseError if no example has a tree with a phrase.
        """
        from spacy_incparse.neural.brackets import chains_of
        from spacy_incparse.neural.span_scorer import CutDocs, set_outputs

        if labels is None:
            trees = gold_trees(get_examples())
            check_found(trees, self.name)
            found = {*chains_of(trees), *map(tuple, self.cfg["chains"])}
            labels = {"labels": sorted(found), "tags": sorted({tag for tree in trees for tag in tree.tags})}
        if not labels["labels"]:
            raise IncparseError(
                f"the component {self.name!r} found no phrases to learn: a tree such as (TOP (NN cat)) has none; train "
                f"on a treebank with phrases, such as (TOP (NP (NN cat)))"
            )
        self.cfg.update(chains=list(map(list, labels["labels"])), tags=list(labels["tags"]), temperature=None)
        set_outputs(self.model.get_ref("head"), len(self.cfg["chains"]), len(self.cfg["tags"]))
        docs = [example.x for example in islice(get_examples(), N_SAMPLE)]
        self.model.initialize(X=CutDocs(docs, [[] for _ in docs]))
        self._forget()

    def update(
        self, examples: Iterable[Example], *, drop: float = 0.0, sgd: Any = None,
        losses: dict[str, float] | None = None, **kwargs: Any,
    ) -> dict[str, float]:  # fmt: skip
        """Learn from the gold trees of a batch. The loss is the sum of the losses of its sentences.

        Sentences with more than `max_length` words are left out.
        """
        from spacy_incparse.neural.span_scorer import reads_transformer

        examples = list(examples)
        losses = super().update(examples, losses=losses)
        if not any(len(example.predicted) for example in examples):
            return losses
        if not self._is_initialized:
            raise IncparseError(f"the component {self.name!r} is not initialized: call nlp.initialize() first")
        self._forget()
        set_dropout_rate(self.model, drop)
        # Without a tree there are still Docs: other components may share the layer, and it waits for all gradients.
        try:
            scores, backprop = self.model.begin_update(gold_batch(examples, self.max_length)[0])
        except AssertionError as error:
            if any(map(reads_transformer, self.model.get_ref("tok2vec").walk())):
                raise IncparseError(
                    f"{self.name}: the transformer did not compute vectors to train with. To keep its weights as they "
                    f"are, set frozen = true in its own settings, and leave it out of frozen_components"
                ) from error
            raise
        loss, gradient = self.get_loss(examples, scores)
        backprop(gradient)
        if sgd not in (None, False):
            self.finish_update(sgd)
        losses[self.name] += loss
        return losses

    def get_loss(self, examples: Iterable[Example], scores: SpanScores) -> tuple[float, SpanScores]:
        """Return the loss of the model's scores for a batch, and its derivatives by them."""
        from spacy_incparse.neural.brackets import LOSSES, total_loss

        _, trees = gold_batch(examples, self.max_length)
        outputs = self._chains, self.cfg["tags"], self.tag_weight
        return total_loss(trees, scores, self.model.ops, LOSSES[self.loss], *outputs)

    def finish_update(self, sgd: Any) -> None:
        """Update the weights with the gradients since the last call."""
        from spacy_incparse.neural.span_scorer import layers_without

        faster: Any = partial(sgd, lr_scale=self.learn_rate_scale)
        for layer in layers_without(self.model, "tok2vec"):
            layer.finish_update(faster)
        self.model.get_ref("tok2vec").finish_update(sgd)
        self._forget()

    def use_params(self, params: Any) -> Iterator[None]:
        """Use other weights, such as averages, within the context."""
        with self.model.use_params(params):
            yield

    def _check_loaded(self, exclude: Iterable[str]) -> None:
        """Forget what depends on older weights. Raises ModelError if the labels or tags do not belong to the new ones.

        exclude: what was not loaded.
        """
        self._forget()
        if not self._is_initialized or {"cfg", "model"} & set(exclude):
            return
        head = self.model.get_ref("head")
        for name, known in (("labels", self.cfg["chains"]), ("tags", self.cfg["tags"])):
            number = head.get_ref(name).get_dim("nO")
            if number != len(known):
                raise ModelError(f"{self.name}: the weights are for {number} {name}, but cfg lists {len(known)}")

    @property
    def _is_initialized(self) -> bool:
        return bool(self.model.get_ref("head").has_param("gain"))

    def _forget(self) -> None:
        """Forget what depends on the weights."""
        self._decoder, self._weights_id = None, ""
        self._vectors.clear()

    def _set_temperature(self, temperature: float | None) -> None:
        self.cfg["temperature"] = temperature
        self._forget()

    def _fitted_temperature(self, gold: Sequence[tuple[Tree, Sentence]]) -> float | None:
        self._set_temperature(None)  # an earlier one must not decide for which trees this one is fitted
        return super()._fitted_temperature(gold)

    def gold_sentences(self, examples: Iterable[Example]) -> Iterator[tuple[Tree, Sentence]]:
        """Yield the gold trees of parsed examples with their sentences."""
        for example in examples:
            for tree, sentence in gold_with_sentences([example]):
                yield tree, self.with_constraints(example.predicted, replace(sentence, constraints=()))

    def _state(self) -> dict[str, Any]:
        state = super()._state()
        del state["_vectors"]  # they have references to Docs
        return state


class NeuralDecoder(ConfiguredParser):
    """A parser with a model that scores spans.

    max_length: longer sentences are parsed in pieces of at most so many words, so that time and memory stay bounded.
    """

    def __init__(self, parser: SpanParser, scorer: ModelScorer, *settings: Any, max_length: int):
        super().__init__(parser, None, *settings)
        self._scorer, self._max_length, self._tags = scorer, max_length, parser.tags

    def inputs_of(self, sentences: Sequence[Sentence], *, use_given: bool) -> list[Input]:
        """Return what `parse` takes, with the model's tags, or with `use_given` the words' own where they have any.

        Raises IncparseError for a sentence without vectors: its words are no longer those of the Doc's tokens.
        """
        from spacy_incparse.chart.charts import pieces

        rows, numbers = [], []  # the vectors of pieces, and how many pieces each sentence has
        for sentence in sentences:
            if sentence.seen is None:
                start = " ".join(sentence.words[:8])
                raise IncparseError(
                    f"the words of {start!r} are no longer tokens, since tokens were merged or split, and a neural "
                    f"parser has no vectors for them: parse the text again"
                )
            cuts = [sentence.seen[first:last] for first, last in pieces(sentence.words, self._max_length)]
            rows += cuts
            numbers.append(len(cuts))
        fences, best_tags = map(iter, self._scorer.read(rows) if rows else ((), ()))
        found = []
        for sentence, n in zip(sentences, numbers, strict=True):
            own = [self._tags[tag] for piece in islice(best_tags, n) for tag in piece.tolist()]
            tags = [given or tag for given, tag in zip(sentence.tags, own, strict=True)] if use_given else own
            found.append((sentence.words, tags, sentence.constraints, list(islice(fences, n))))
        return found


def tokens_of(doc: Doc, sentence: Sentence) -> Sequence[int] | None:
    """Return the tokens that are the words of a sentence; None if some word is no token of the Doc."""
    if sentence.tokens:
        return sentence.tokens
    places = {token.idx: token.i for token in doc if not token.is_space}
    found = [places.get(start, -1) for start in sentence.char_starts]
    is_word = (i >= 0 and doc[i].idx + len(doc[i]) == end for i, end in zip(found, sentence.char_ends, strict=True))
    return found if all(is_word) else None


def gold_batch(examples: Iterable[Example], max_length: int) -> tuple[CutDocs, list[Tree]]:
    """Return whole Docs with the tokens of their gold sentences, and the gold trees, of at most `max_length` words."""
    from spacy_incparse.neural.span_scorer import CutDocs

    docs, cuts, trees = [], [], []
    for example in examples:
        doc = example.predicted
        words: Sequence[int] = range(len(doc))
        if any(token.is_space for token in doc):
            words = [token.i for token in doc if not token.is_space]
        found = [(first, tree) for first, tree in gold_sentences(example).trees if len(tree.words) <= max_length]
        docs.append(doc)
        cuts.append([words[first : first + len(tree.words)] for first, tree in found])
        trees += [tree for _, tree in found]
    return CutDocs(docs, cuts), trees
