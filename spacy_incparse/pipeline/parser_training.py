"""Training of the parser component: how `initialize` reads the treebank, and how `update` learns from a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.training import Example
from spacy.util import logger

from spacy_incparse.documents.gold import gold_sentences
from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.errors import IncparseError
from spacy_incparse.parsing.catalogue import find_kind, kind_of
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.parsing.parser import FineTuner, Learner, Parser, TagRequest
from spacy_incparse.training.settings import head_rules, own_settings
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:  # compiled modules are only loaded when training begins
    from spacy_incparse.tagging.tagger import Tagger


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


def _given_tags(example: Example) -> list[str] | None:
    tags = [token.tag_ for token in example.predicted if not token.is_space]
    return tags if all(tags) else None
