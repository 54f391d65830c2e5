"""The parser: grammar, lexicon, weights and search settings wired together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import srsly

from spacy_incparse.errors import ModelError
from spacy_incparse.features.templates import resolve
from spacy_incparse.grammar.chains import Grammar
from spacy_incparse.learning.weights import Weights
from spacy_incparse.lexicon.words import Lexicon
from spacy_incparse.search.beam import Beam
from spacy_incparse.search.config import ParserConfig
from spacy_incparse.search.moves import Moves
from spacy_incparse.search.output import TreeWriter
from spacy_incparse.search.sentence import Sentence
from spacy_incparse.transforms.left_corner import slash_base
from spacy_incparse.trees.builder import TreeBuilder
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

ROOT_LABEL = "TOP"


@dataclass(frozen=True)
class Parse:
    """A tree over all words of a sentence, its score in averaged weights, and where it came from.

    source: "beam"; "relaxed" where some word was done again without the grammar's triples; "flat" where the search gave
    nothing, and all words hang from the root.
    """

    tree: Tree
    score: float
    source: str


@dataclass(frozen=True)
class Model:
    """What of a parser is learnt from a treebank but for the weights."""

    grammar: Grammar
    lexicon: Lexicon
    heads: HeadRules
    punctuation: tuple[int, ...]  # ids of the tags of punctuation

    def moves(self, config: ParserConfig, seen_min_count: int) -> Moves:
        """Compile the grammar for the search."""
        return Moves(
            self.grammar, self.heads, self.punctuation, frozenset(config.conjunctions), seen_min_count,
            config.seen_min_share,
        )  # fmt: skip

    def sentence(self, words: Sequence[str], tags: Sequence[str]) -> Sentence:
        """Give a sentence as numbers; a tag that training has not seen counts as the most frequent one."""
        tag_ids = self.grammar.labels.tag_ids
        numbers, classes = self.lexicon.encode(words)
        ids = [tag_ids.get(tag, 0) for tag in tags]
        return Sentence(numbers, classes, ids, len(tag_ids), "?" in words[-3:])

    def to_dict(self) -> dict[str, Any]:
        """Give the model in a form fit for msgpack."""
        return {
            "grammar": self.grammar.to_dict(),
            "lexicon": self.lexicon.to_dict(),
            "heads": self.heads.to_dict(),
            "punctuation": list(self.punctuation),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Model:
        """Undo `to_dict`."""
        return cls(
            Grammar.from_dict(data["grammar"]),
            Lexicon.from_dict(data["lexicon"]),
            HeadRules.from_dict(data["heads"]),
            tuple(data["punctuation"]),
        )


class Parser:
    """A trained incremental parser (Collins & Roark 2004): give it words and tags, it gives a tree."""

    def __init__(
        self,
        model: Model,
        weights: Weights,
        config: ParserConfig,
        moves: Moves | None = None,
        temperature: float | None = None,
    ):
        self.model, self.weights, self.config = model, weights, config
        self.temperature = temperature  # makes probabilities of scores (search/analyses.py); None: it was never fitted
        moves = moves or model.moves(config, config.seen_min_count)
        root = root_symbol(model.grammar)
        self._beam = Beam(moves, resolve(config.features), weights, root, config.beam_size, config.gamma)
        self._writer = TreeWriter(moves, model.grammar.nonterminals, root)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that the parser knows, the most frequent first."""
        return self.model.grammar.tags

    @property
    def labels(self) -> tuple[str, ...]:
        """The phrase labels that its trees may have, sorted."""
        return tuple(sorted(label for label in self.model.grammar.nonterminals if slash_base(label) is None))

    @property
    def heads(self) -> HeadRules:
        """The head rules of the treebank that it was trained on."""
        return self.model.heads

    def parse(self, words: Sequence[str], tags: Sequence[str]) -> Parse:
        """Parse one sentence: the best tree. Raises ValueError without words, or where tags are more or fewer."""
        return self.nbest(words, tags, 1)[0]

    def nbest(self, words: Sequence[str], tags: Sequence[str], k: int) -> list[Parse]:
        """Give up to k analyses of one sentence, different trees, the best first. Raises ValueError for k below 1."""
        if not words or len(words) != len(tags):
            raise ValueError(f"a sentence needs words and as many tags, not {len(words)} words and {len(tags)} tags")
        if k < 1:
            raise ValueError(f"the number of analyses has to be 1 or more, not {k}")
        results, n_relaxed = self._beam.parse(self.model.sentence(words, tags), k)
        if not results:
            return [Parse(flat_tree(words, tags), 0.0, "flat")]
        source = "relaxed" if n_relaxed else "beam"
        parses: dict[Tree, Parse] = {}
        for score, n_closings, leaves in results:
            tree = Tree(self._writer.write(n_closings, leaves, words, tags))
            parses.setdefault(tree, Parse(tree, score / self.weights.scale, source))
        return list(parses.values())

    def parse_batch(self, sentences: Iterable[tuple[Sequence[str], Sequence[str]]]) -> list[Parse]:
        """Parse sentences, each given by its words and tags."""
        return [self.parse(words, tags) for words, tags in sentences]

    def with_search(self, **settings: Any) -> Parser:
        """Give a parser with the same weights and other search settings (beam_size, gamma, seen_min_count ...)."""
        return Parser(self.model, self.weights, self.config.with_search(**settings), temperature=self.temperature)

    def to_bytes(self) -> bytes:
        """Give the whole parser."""
        return srsly.msgpack_dumps(
            {
                "config": self.config.to_dict(),
                "model": self.model.to_dict(),
                "weights": self.weights.to_bytes(),
                "n_columns": self.weights.n_columns,
                "scale": self.weights.scale,
                "temperature": self.temperature,
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Parser:
        """Undo `to_bytes`. Raises ModelError for anything else."""
        try:
            content = srsly.msgpack_loads(data)
            config = ParserConfig.from_dict(content["config"])
            model = Model.from_dict(content["model"])
            weights = Weights(config.table_bits, content["n_columns"], content["scale"])
            weights.load_bytes(content["weights"])
            temperature = content.get("temperature")  # models of the first versions have none
            if temperature is not None and not temperature > 0:
                raise ValueError(f"a temperature of {temperature}")
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(f"these bytes are no parser model: {error}") from error
        return cls(model, weights, config, temperature=temperature)

    def __reduce__(self):
        return type(self).from_bytes, (self.to_bytes(),)


def root_symbol(grammar: Grammar) -> int:
    """Give the search's symbol of the root label."""
    return 2 + grammar.labels.nonterminal_ids[ROOT_LABEL]


def flat_tree(words: Sequence[str], tags: Sequence[str]) -> Tree:
    """Hang all words from the root."""
    builder = TreeBuilder()
    builder.open(ROOT_LABEL)
    for word, tag in zip(words, tags, strict=True):
        builder.leaf(tag, word)
    builder.close()
    return builder.finish()
