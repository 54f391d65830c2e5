"""The parser: grammar, lexicon, weights and search settings wired together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import srsly

from spacy_incparse.errors import ModelError, damaged
from spacy_incparse.incremental.beam import Beam, Replay
from spacy_incparse.incremental.config import TAG_MARGIN, ParserConfig
from spacy_incparse.incremental.grammar import (
    FIRST_SYMBOL,
    Context,
    Grammar,
    as_searched,
    check_ids,
    check_words,
    encode_moves,
    reachable_tags,
    retag,
    root_symbol,
    tree_score,
    violations,
)  # fmt: skip
from spacy_incparse.incremental.moves import BracketConstraints, Moves
from spacy_incparse.incremental.scorer import Scorer
from spacy_incparse.incremental.sentence import Sentence
from spacy_incparse.incremental.tree_writer import TreeWriter
from spacy_incparse.linear.templates import look_ahead
from spacy_incparse.linear.weights import Weights
from spacy_incparse.linear.words import Clusters, Lexicon, stored_clusters
from spacy_incparse.parsing.local_trees import LocalTree
from spacy_incparse.parsing.nbest import ChoosingParser
from spacy_incparse.parsing.parse import (
    Constraint,
    Constraints,
    Parse,
    Tags,
    TreeScore,
    best_tag,
    check_n_analyses,
    check_sentence,
    checked_constraints,
    flat_tree,
    is_about_root,
    may_be_met,
)  # fmt: skip
from spacy_incparse.parsing.parser import LookAheadSession, Parser, TagRequest, TagSource, stored_temperature
from spacy_incparse.transforms.left_corner import slash_base
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.labels import ROOT, UNKNOWN_TAG
from spacy_incparse.trees.tree import Tree

ANY = 0  # for the symbol of a label
WIDE_BEAM = 1000  # hypotheses after a word, if a search with fewer has found nothing
WINDOW = 4  # margins of training that a hypothesis may fall behind by ending constituents: see Beam
N_REPEATED = 10  # analyses asked for beyond the trees returned, since several may have the same tree
Analysis = tuple[int, Sequence[int], Sequence[int]]  # score in table units, closings by word, leaves by word


@dataclass(frozen=True)
class PerceptronModel:
    """Everything that a parser learns from a treebank, except for the weights."""

    grammar: Grammar
    lexicon: Lexicon
    heads: HeadRules
    punctuation: tuple[int, ...]  # ids of the tags of punctuation

    def moves(self, min_count: int, min_share: float = 0.0) -> Moves:
        """Compile the grammar for the search."""
        return Moves(self.grammar, self.heads, self.punctuation, min_count, min_share)

    def scorer(self, moves: Moves, weights: Weights, config: ParserConfig, *, training: bool = False) -> Scorer:
        """Return a scorer of moves under these weights."""
        return Scorer(moves, config.templates, weights)

    def trained(self) -> PerceptronModel:
        """Return the model without the parts that only training needs."""
        return self

    def training_sentence(self, words: Sequence[str], tags: Tags) -> Sentence:
        """Return a training sentence as numbers."""
        return self.sentence(words, tags)

    def sentence(self, words: Sequence[str], tags: Tags, *generative: Any) -> Sentence:
        """Return a sentence as numbers; a tag that training has not seen counts as the most frequent one.

        generative: the numbers of a generative model, if there is one (see `Sentence`).
        """
        tag_ids, end_tag = self.grammar.labels.tag_ids, self.grammar.labels.end_tag
        numbers, classes, *of_clusters = self.lexicon.encode(words)
        clusters = of_clusters if self.lexicon.clusters else None
        alternatives = {}
        ids = []
        for position, tag in enumerate(tags):
            if not isinstance(tag, str):
                alternatives[position] = _ranked(tag or [(UNKNOWN_TAG, 0.0)], tag_ids)
                tag = best_tag(tag)
            ids.append(tag_ids.get(tag, 0))
        return Sentence(numbers, classes, ids, end_tag, "?" in words[-3:], alternatives, clusters, *generative)

    def to_dict(self) -> dict[str, Any]:
        """Return the model in a form suitable for msgpack."""
        return {
            "grammar": self.grammar.to_dict(),
            "lexicon": self.lexicon.to_dict(),
            "heads": self.heads.to_dict(),
            "punctuation": list(self.punctuation),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], clusters: Clusters | None = None) -> PerceptronModel:
        """Undo `to_dict`, which leaves out clusters. Raises ModelError for ids without a label."""
        grammar = Grammar.from_dict(data["grammar"])
        check_ids(data["punctuation"], 0, len(grammar.tags))
        return cls(
            grammar,
            Lexicon.from_dict(data["lexicon"], clusters),
            HeadRules.from_dict(data["heads"]),
            tuple(data["punctuation"]),
        )


ReadModel = Callable[[dict[str, Any], "Clusters | None"], PerceptronModel]


class DerivedTree(Tree):
    """The tree of a derivation, written when somebody looks at it: of a hundred analyses, users look at a few.

    Trees of one writer over the same words are compared without being written.
    """

    __slots__ = ("_parts",)

    def __init__(self, *parts: Any):
        self._index, self._parts = 0, parts  # writer, nodes, tags, words

    def __getattr__(self, name: str) -> Any:
        if name != "_arrays":
            return super().__getattr__(name)  # type: ignore[misc]
        writer, nodes, tags, words = self._parts
        self._arrays = writer.write(nodes, words, tags)
        return self._arrays

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DerivedTree) and self._parts[0] is other._parts[0]:
            return self._parts[1:] == other._parts[1:]
        return super().__eq__(other)

    __hash__ = Tree.__hash__


class TreebankParser(ChoosingParser):
    """A parser with a grammar of chains; subclasses define the search."""

    model: Any
    """What it has learned from its treebank, with a `grammar` and the `heads` of the treebank."""
    _moves: Moves

    @classmethod
    @abstractmethod
    def from_bytes(cls, data: bytes) -> TreebankParser:
        """Undo `to_bytes`. Raises ModelError for anything else."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that the parser knows, most frequent first."""
        return tuple(self.model.grammar.labels.tag_ids)

    @property
    def labels(self) -> tuple[str, ...]:
        """The phrase labels that its trees may have, sorted."""
        return tuple(sorted([ROOT, *self._phrases]))

    @property
    def heads(self) -> HeadRules:
        """The head rules of the treebank that it was trained on."""
        return self.model.heads

    @property
    def local_trees(self) -> frozenset[LocalTree]:
        """The local trees that training has seen; none if the model's file does not have them."""
        return self.model.grammar.local_trees

    @cached_property
    def _phrases(self) -> dict[str, int]:
        """The symbols of the labels that a phrase may have, without the root's. The root is in every tree."""
        ids = self.model.grammar.labels.nonterminal_ids
        return {name: FIRST_SYMBOL + k for name, k in ids.items() if name != ROOT and slash_base(name) is None}

    def _search_under(
        self, constraints: Constraints, n_words: int, search: Callable[[BracketConstraints | None, bool], Any]
    ) -> tuple[Any, tuple[Constraint, ...]]:
        """Search under constraints; if that finds nothing, search under as many of them, in their order, as can be met.

        search: returns what it finds under limits, or None. With True it must keep more hypotheses than usual, because
        all of those that it kept may have reached a dead end. Returns what was found, and the constraints that were
        left out. Raises ConfigError for constraints that are malformed or on other words.
        """
        wanted = checked_constraints(constraints, n_words)
        kept = possible = [constraint for constraint in wanted if may_be_met(constraint, self._phrases, n_words)]
        limits = self._limits(possible, n_words)
        found = search(limits, False)
        if found is None and limits is not None:
            found = search(limits, True)
            if found is None:
                kept = []
                for constraint in possible:
                    if search(self._limits([*kept, constraint], n_words), False) is not None:
                        kept.append(constraint)
                found = search(self._limits(kept, n_words), False)
        return found, tuple(constraint for constraint in wanted if constraint not in kept)

    def _limits(self, constraints: Sequence[Constraint], n_words: int) -> BracketConstraints | None:
        """Return possible constraints in the form that the search needs; None if nothing is limited."""
        brackets: dict[bool, list[tuple[int, int, int]]] = {True: [], False: []}
        for constraint in constraints:
            start, end, label, is_required = constraint
            if not is_about_root(constraint, n_words) and (label is None or label in self._phrases):
                brackets[is_required].append((start, end, ANY if label is None else self._phrases[label]))
        if not any(brackets.values()):
            return None
        return BracketConstraints(self._moves, n_words, brackets[True], brackets[False])


class PerceptronParser(TreebankParser):
    """A trained incremental parser (Collins & Roark 2004) from words and tags to trees."""

    model: PerceptronModel
    config: ParserConfig
    kind = "perceptron"

    def __init__(
        self,
        model: PerceptronModel,
        weights: Weights,
        config: ParserConfig,
        moves: Moves | None = None,
        temperature: float | None = None,
        scorer: Scorer | None = None,
    ):
        self.model, self.weights, self.config = model, weights, config
        self.temperature = temperature  # turns scores into probabilities (parsing/nbest.py); None: never fitted
        self._moves = moves = moves or model.moves(*config.outcome_filter)
        if weights.n_columns < moves.n_columns:
            raise ModelError(
                f"the weights have {weights.n_columns} columns, but the grammar needs {moves.n_columns}: the model is "
                f"damaged"
            )
        root = root_symbol(model.grammar)
        self._scorer = scorer or model.scorer(moves, weights, config)
        window = None if config.gamma is None else WINDOW * config.margin or None
        self._beam = Beam(self._scorer, root, config.beam_size, config.gamma, window)
        self._wide_beam = Beam(self._scorer, root, max(config.beam_size, WIDE_BEAM), None)
        self._writer = TreeWriter(moves, model.grammar.nonterminals, root)

    @property
    def known_words(self) -> Collection[str]:
        """The words that training has at least twice."""
        return self.model.lexicon.counts.keys()

    @property
    def clusters(self) -> Clusters | None:
        """The word clusters that its features read."""
        return self.model.lexicon.clusters

    def nbest(self, words: Sequence[str], tags: Tags, k: int, constraints: Constraints = ()) -> list[Parse]:
        """Return up to k analyses of one sentence with different trees, best first.

        constraints: required and forbidden phrases (`parsers.constraints.Constraint`). Those that the search cannot
        meet together with those before them are left out and listed in `unmet`. Raises ValueError for words without
        tags, k below 1, and constraints on other words.
        """
        check_n_analyses(k)
        check_sentence(words, tags, need_tags=True)
        sentence = self.model.sentence(words, tags)
        if constraints is not None and not constraints:
            results, n_relaxed = self._beam.parse(sentence, k)
            return self._to_parses(results, n_relaxed, words, tags)

        def search(limits: BracketConstraints | None, is_wide: bool) -> Any:
            found = (self._wide_beam if is_wide else self._beam).parse(sentence, k, limits)
            return found if found[0] else None

        found, unmet = self._search_under(constraints, len(words), search)
        results, n_relaxed = found or ([], 0)
        return self._to_parses(results, n_relaxed, words, tags, unmet)

    def parse_beside(
        self, wide: Parser, words: Sequence[str], tags: Tags, n: int, *, with_better: bool = False
    ) -> tuple[Parse, list[Parse]]:
        """Return the tree of a sentence, and up to n trees of `with_wide_search` that score no higher, best first.

        with_better: trees that score higher are among them. Both searches go through the sentence together: most of
        what one scores the other scores, too.
        """
        if not (isinstance(wide, PerceptronParser) and self.config.chooses_by_score):
            return super().parse_beside(wide, words, tags, n, with_better=with_better)
        check_sentence(words, tags, need_tags=True)
        (own, n_relaxed), (others, n_others_relaxed) = self._beam.parse_beside(
            wide._beam, self.model.sentence(words, tags), n + N_REPEATED, with_better
        )
        (best,) = self._to_parses(own, n_relaxed, words, tags)
        return best, wide._to_parses(others, n_others_relaxed, words, tags, n=n) if others else []

    @cached_property
    def tag_request(self) -> TagRequest:
        """The tags that it needs: up to `n_tags` for each word."""
        return TagRequest(self.config.n_tags, TAG_MARGIN)

    @cached_property
    def look_ahead(self) -> int | None:
        """The number of words after the absorbed one that its features read; None: up to the end of the sentence."""
        return look_ahead(self.config.templates)

    def start(self, tagger: TagSource | None = None) -> LookAheadSession:
        """Start a sentence that arrives word by word; words without a tag get the tagger's."""
        return LookAheadSession(self, tagger)

    def prefix(self, words: Sequence[str], tags: Tags, n_words: int, k: int) -> list[Parse]:
        """Return up to k analyses of the first words of a sentence; constituents that are open after them are closed.

        They are those of the sentence's beam after these words, best first.
        """
        results, n_relaxed = self._beam.prefix(self.model.sentence(words, tags), n_words, k)
        return self._to_parses(results, n_relaxed, words[:n_words], tags[:n_words])

    def _to_parses(
        self,
        results: Sequence[Analysis],
        n_relaxed: int,
        words: Sequence[str],
        tags: Tags,
        unmet: tuple[Constraint, ...] = (),
        n: int | None = None,
    ) -> list[Parse]:
        """Return the different trees of analyses, or the first n of them; a flat tree if there are none."""
        if not results:
            return [Parse(flat_tree(words, tags), 0.0, "flat", unmet)]
        source = "relaxed" if n_relaxed else "beam"
        are_chosen = {str}.issuperset(map(type, tags))
        words, own_tags = tuple(words), tuple(tags)
        parses: dict[object, Parse] = {}
        for score, n_closings, leaves in results:
            if len(parses) == n:
                break
            if not are_chosen:  # where several were given, the one in the derivation, unless it replaces an unknown one
                found = [self.model.grammar.tags[self._moves.leaves[leaf][0]] for leaf in leaves]
                own_tags = tuple(reachable_tags(found, tags))
            key = self._writer.restored(n_closings, leaves), own_tags
            if key not in parses:
                parses[key] = Parse(DerivedTree(self._writer, *key, words), score / self.weights.scale, source, unmet)
        return list(parses.values())

    def score(self, words: Sequence[str], tags: Tags | None, tree: Tree) -> TreeScore:
        """Return the score and the derivation of a normalized tree of the sentence, in the unit of `Parse.score`.

        tags: the tags that the sentence would be parsed under; None: the tree's own. If a word has several tags, the
        tree's is used if it is among them, otherwise the first. The derivation is that of the tree's left-corner form.
        A tree that the search returns has the same score here, unless the search was relaxed and built the tree in
        another way. Raises ValueError if the tree has other words.
        """
        check_words(words, tree)
        tags = tree.tags if tags is None else tags
        labels = self.model.grammar.labels
        shown = reachable_tags(tree.tags, tags)
        transformed = as_searched(tree, shown, labels)
        n_closings, leaves = encode_moves(transformed, labels, self._moves.leaf_numbers)
        n_known = leaves.index(-1) if -1 in leaves else len(leaves)
        sentence = self.model.sentence(words, tags)
        scores = Replay(self._beam).scores_of(sentence, n_closings[:n_known], leaves[:n_known])
        violated = violations(transformed, self.model.grammar, self._seen)
        return tree_score(retag(tree, shown), transformed, scores, violated, self.weights.scale)

    @cached_property
    def _seen(self) -> dict[Context, frozenset[int]]:
        """The outcomes that contexts seen often enough allow; empty if contexts do not limit outcomes."""
        min_count, min_share = self.config.outcome_filter
        totals = {context: sum(counts.values()) for context, counts in self.model.grammar.contexts.items()}
        return {
            context: frozenset(outcome for outcome, n in counts.items() if n >= min_share * totals[context])
            for context, counts in self.model.grammar.contexts.items()
            if min_count and totals[context] >= min_count
        }

    def with_wide_search(self, n: int) -> PerceptronParser:
        """Return this parser with a search that keeps `n` hypotheses or more, whatever their scores."""
        config = self.config.with_search(gamma=None, beam_size=max(n, self.config.beam_size))
        wide = type(self)(self.model, self.weights, config, self._moves, self.temperature, self._scorer)
        wide._writer = self._writer  # so that trees of both can be compared without being written
        return wide

    def with_search(self, **settings: object) -> PerceptronParser:
        """Return a parser with the same weights and other search settings (beam_size, gamma ...)."""
        config = self.config.with_search(**settings)
        moves = self._moves if config.outcome_filter == self.config.outcome_filter else None
        return type(self)(self.model, self.weights, config, moves, self.temperature)

    def to_bytes(self, *, with_clusters: bool = True) -> bytes:
        """Return the whole parser as bytes, without its clusters if its tagger stores the same ones."""
        content = {
            "config": self.config.to_dict(),
            "model": self.model.to_dict(),
            "weights": self.weights.to_bytes(),
            "n_columns": self.weights.n_columns,
            "scale": self.weights.scale,
            "temperature": self.temperature,
        }
        if self.clusters and with_clusters:
            content["clusters"] = self.clusters.to_bytes()
        return srsly.msgpack_dumps(content)

    @classmethod
    def from_bytes(
        cls, data: bytes, clusters: Clusters | None = None, read_model: ReadModel = PerceptronModel.from_dict
    ) -> PerceptronParser:
        """Undo `to_bytes`; `clusters` are for a parser stored without them. Raises ModelError for anything else."""
        with damaged("these bytes are not a parser model"):
            content = srsly.msgpack_loads(data)
            config = ParserConfig.from_dict(content["config"])
            clusters = stored_clusters(content, clusters, are_needed=bool(config.clusters))
            model = read_model(content["model"], clusters)
            weights = Weights.from_bytes(content["weights"], config.table_bits, content["n_columns"], content["scale"])
            temperature = stored_temperature(content)
            return cls(model, weights, config, temperature=temperature)


def _ranked(tags: Sequence[tuple[str, float]], tag_ids: dict[str, int]) -> list[tuple[int, int]]:
    """Return known tags of a word with ranks: the tagger's choice 1 to 15, by its lead; others 16 to 31, by their gap.

    Tags that the parser does not know are left out, except for the first, which counts as the most frequent one.
    """
    first, *others = tags
    others = [(tag, gap) for tag, gap in others if tag in tag_ids]
    if not others:
        return [(tag_ids.get(first[0], 0), 0)]
    lead = int(others[0][1]).bit_length()
    ranked = [(tag_ids[tag], 16 + min(int(gap).bit_length(), 15)) for tag, gap in others]
    best = tag_ids.get(first[0], 0)
    return [(best, 1 + min(lead, 14)), *(pair for pair in ranked if pair[0] != best)]
