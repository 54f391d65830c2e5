"""Training of the parser component: what `initialize` reads from the treebank, and what `update` does with a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.training import Example

from spacy_incparse.documents.gold_trees import gold_sentences
from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.perceptron.perceptron_config import ParserConfig
from spacy_incparse.settings import MOST, MOST_SEED, check_number
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.perceptron.candidate_cache import GoldMoves
    from spacy_incparse.perceptron.learner import ParserLearner
    from spacy_incparse.perceptron.perceptron_parser import Tags
    from spacy_incparse.tagging.tagger import Tagger
    from spacy_incparse.trees.heads import HeadRules

TRAINING_DEFAULTS: dict[str, Any] = {
    "features": "rich",  # "paper", "paper+punct", "rich", "accurate", or your own templates
    "heads": None,  # "en", "any", the path of a table, or a table; None: depends on the language
    "seed": 0,  # for the order of sentences and the tagger; the same seed gives the same model, to the bit
    "n_folds": 10,  # for jackknifing, so that the parser is trained on tags like those it will meet; 0: gold tags
    "tagger": {},  # settings of Tagger.train, for the parser's tagger and those of jackknifing
}
"""The settings of training with their defaults; any field of `ParserConfig` may stand beside them."""


@dataclass
class TrainingRun:
    """The learner and what it needs beside the examples: the tags that training sees, and the order of sentences."""

    learner: ParserLearner
    tagger: Tagger
    seed: int
    tags: dict[tuple[str, ...], Tags] = field(default_factory=dict)  # by the words of a training sentence
    n_batches: int = 0  # seen so far; with the seed it decides the order of the next one
    encoded: dict[tuple, GoldMoves] = field(default_factory=dict)

    @classmethod
    def start(cls, trees: Sequence[Tree], settings: dict[str, Any], *, lang: str) -> TrainingRun:
        """Train the tagger on the trees, tag them, and read grammar and lexicon."""
        from spacy_incparse.training.preparation import config_clusters, prepare

        config = parser_config(settings)
        tagger, tags, learner = prepare(
            trees,
            config,
            head_rules(settings["heads"], lang),
            config_clusters(config),
            n_folds=settings["n_folds"],
            tagger_settings=settings["tagger"],
            seed=settings["seed"],
        )
        by_words = {tree.words: row for tree, row in zip(trees, tags, strict=True)}
        return cls(learner, tagger, settings["seed"], by_words)

    def update(self, examples: Iterable[Example], *, use_given_tags: bool) -> int:
        """Learn from the examples' sentences in random order; return how many of them were wrong before.

        Of several models it is the mean, rounded.
        """
        from spacy_incparse.training.preparation import pass_order, uses_gold_tags

        sentences = self._sentences(examples, use_given_tags)
        # spaCy sorts and shuffles batches with generators of its own: sorted first, the order depends on nothing else.
        sentences.sort(key=lambda sentence: (sentence[0], sentence[2].arrays.labels))
        self.n_batches += 1
        interval = self.learner.config.gold_tag_interval
        batch = [
            self._encode(words, tree.tags if uses_gold_tags(i, self.n_batches, interval) else tags, tree)
            for i, (words, tags, tree) in enumerate(sentences)
        ]
        n_wrong = 0
        for model in range(self.learner.config.n_models):
            order = pass_order(len(batch), self.seed, self.n_batches, model)
            n_wrong += sum(self.learner.learn(batch[i], model) > 0 for i in order)
        return round(n_wrong / self.learner.config.n_models)

    def _encode(self, words: tuple[str, ...], tags: Tags, tree: Tree) -> GoldMoves:
        """Encode a sentence once, not in every pass."""
        key = words, tuple(tag if isinstance(tag, str) else tuple(tag) for tag in tags), tree.arrays.labels
        if key not in self.encoded:
            self.encoded[key] = self.learner.encode(words, tags, tree)
        return self.encoded[key]

    def _sentences(self, examples: Iterable[Example], use_given_tags: bool) -> list[tuple[tuple[str, ...], Tags, Tree]]:
        sentences = []
        for example in examples:
            given = _given_tags(example) if use_given_tags else None
            for first, tree in gold_sentences(example).trees:
                words = tree.words
                tags = given[first : first + len(words)] if given else self._tags_of(words)
                sentences.append((words, tags, tree))
        return sentences

    def _tags_of(self, words: tuple[str, ...]) -> Tags:
        tags = self.tags.get(words)
        if tags is not None:
            return tags
        config = self.learner.config
        return self.tagger.lattice_batch([words], config.n_tags, config.tag_margin)[0]


def gold_trees(examples: Iterable[Example]) -> list[Tree]:
    """Return all gold trees of the examples. Raises IncparseError where most of them cannot be used."""
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


def gold_with_sentences(examples: Iterable[Example]) -> Iterator[tuple[Tree, Sentence]]:
    """Yield the gold trees of examples, each with its words in the predicted Doc and the tags that these have there."""
    for example in examples:
        tokens = [token for token in example.predicted if not token.is_space]
        for first, tree in gold_sentences(example).trees:
            found = tokens[first : first + len(tree.words)]
            starts, ends = [token.idx for token in found], [token.idx + len(token) for token in found]
            tags = [token.tag_ for token in found]
            places = [token.i for token in found]
            yield tree, Sentence(starts[0], ends[-1], places, list(tree.words), tags, starts, ends)


def head_rules(heads: str | Path | dict[str, Any] | None, lang: str) -> HeadRules:
    """Return the head rules that a config names: "en", "any", a table's path, a table, or None for the language's."""
    from spacy_incparse.trees.heads import HeadRules

    _check_heads(heads)
    if isinstance(heads, dict):
        return HeadRules.from_dict(heads)
    if heads is None:
        return HeadRules.from_name("en" if lang == "en" else "any")
    return HeadRules.find(heads)


def parser_config(settings: dict[str, Any]) -> ParserConfig:
    """Return the parser's part of the settings. Raises ConfigError for a name that is no setting."""
    return ParserConfig.from_dict(own_settings(settings, ParserConfig))


def own_settings(settings: dict[str, Any], config: type, others: Sequence[str] = ()) -> dict[str, Any]:
    """Return those settings of training that are fields of a class of settings.

    Raises ConfigError for a name that is no setting of training; `others` are named as settings as well.
    """
    own = {f.name for f in fields(config)}
    for name in settings:
        if name not in own and name not in TRAINING_DEFAULTS:
            known = sorted({*own, *TRAINING_DEFAULTS, *others})
            raise ConfigError(f"there is no setting {name!r} of training: the settings are {', '.join(known)}")
    return {name: value for name, value in settings.items() if name in own}


def check_other_settings(settings: dict[str, Any]) -> None:
    """Raise ConfigError where heads, seed, n_folds or tagger has a value that it cannot have. No file is read."""
    from spacy_incparse.trees.heads import HeadRules

    check_number("seed", settings["seed"], 0, MOST_SEED)
    check_number("n_folds", settings["n_folds"], 0, MOST)
    _check_heads(settings["heads"])
    if isinstance(settings["heads"], dict):
        HeadRules.from_dict(settings["heads"])
    if not isinstance(settings["tagger"], dict):
        raise ConfigError(f"tagger is {settings['tagger']!r}: it must be a dict of settings of the tagger")
    if settings["tagger"]:
        from spacy_incparse.tagging.tagger_config import check_settings

        check_settings(settings["tagger"])


def _check_heads(heads: Any) -> None:
    if not (heads is None or isinstance(heads, str | Path | dict)):
        raise ConfigError(f"heads is {heads!r}: it must be 'en', 'any', the path of a table, a table, or None")


def _given_tags(example: Example) -> list[str] | None:
    tags = [token.tag_ for token in example.predicted if not token.is_space]
    return tags if all(tags) else None
