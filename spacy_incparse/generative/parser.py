"""The generative parser: a joint probability of words, tags and tree, and the search for the best trees."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property, partial
from math import exp, log
from threading import local
from typing import Any

import srsly

from spacy_incparse.errors import IncparseError, damaged
from spacy_incparse.generative.generative_beam import Beam
from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.generative.measures import WordMeasures, word_measures
from spacy_incparse.generative.model import GenerativeModel, encode, n_first
from spacy_incparse.generative.spelling import Spelling
from spacy_incparse.generative.walk import Lattice, MoveScores
from spacy_incparse.incremental.grammar import (
    FIRST_SYMBOL,
    as_searched,
    check_words,
    reachable_tags,
    retag,
    root_symbol,
    tree_score,
    violations,
)
from spacy_incparse.incremental.moves import BracketConstraints, LeftCornerMoves
from spacy_incparse.incremental.parser import WIDE_BEAM, TreebankParser
from spacy_incparse.incremental.tree_writer import TreeWriter
from spacy_incparse.linear.words import read_word_list
from spacy_incparse.parsing.parse import (
    NO_WORDS,
    Constraints,
    Parse,
    Tag,
    Tags,
    TreeScore,
    check_n_analyses,
    check_sentence,
    check_word,
    flat_tree,
)
from spacy_incparse.parsing.parser import Session, TagSource
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

ALL = 2**31 - 1
Analysis = tuple[float, Sequence[int], Sequence[int]]  # log probability, closings by word, leaves by word


class GenerativeParser(TreebankParser):
    """A trained generative parser (Roark 2001; Collins & Roark 2004, section 5).

    It generates the words together with the tree. Its scores are natural log probabilities, and it finds tags if none
    are given.
    """

    model: GenerativeModel
    config: GenerativeConfig
    kind = "generative"
    tag_request = None  # it finds its own tags

    def __init__(
        self, model: GenerativeModel, config: GenerativeConfig, tables: Any = None, temperature: float | None = 1.0
    ):
        self.model, self.config = model, config
        self.temperature = temperature  # the scores are log probabilities already
        self._root = root_symbol(model.grammar)
        compiled: tuple[Any, Any] = tables or model.compile()
        self._moves, self._probabilities = compiled
        numbers: dict[tuple[int, ...], int] = {}
        self._chain_numbers = [numbers.setdefault(chain, len(numbers)) for _, chain in self._moves.leaves]
        self._writer = TreeWriter(self._moves, model.grammar.nonterminals, self._root)
        self._beams = local()
        self._counts = read_word_list(config.word_list) if config.word_list else {}

    @property
    def known_words(self) -> Collection[str]:
        """The words that training has at least twice."""
        return self.model.vocabulary.word_numbers.keys()

    @cached_property
    def spelling(self) -> Spelling:
        """The shares that unknown words have of their class."""
        return self.model.spelling(self._counts)

    @classmethod
    def train(cls, trees: Sequence[Tree], config: GenerativeConfig, heads: HeadRules) -> GenerativeParser:
        """Train on normalized trees, in one pass."""
        return cls(GenerativeModel.train(trees, config, heads), config)

    def parse(self, words: Sequence[str], tags: Tags | None = None, constraints: Constraints = ()) -> Parse:
        """Parse one sentence, under the given tags (see `GenerativeModel.nodes_of`) or with tags that the parser finds.

        By default the tree is the one with the best expected F; the most probable one is the first of `nbest`.
        """
        return super().parse(words, tags, constraints)  # type: ignore[arg-type]  # `nbest` can do without tags

    def nbest(
        self, words: Sequence[str], tags: Tags | None = None, k: int = 1, constraints: Constraints = ()
    ) -> list[Parse]:
        """Return up to k analyses of one sentence with different trees, best first; scores are natural log
        probabilities.

        If a word has no given tag, a tree's probability is the sum over all its taggings in the beam, and its tags are
        those of the best tagging. constraints: as in `PerceptronParser.nbest`. Raises ValueError if there are no words,
        not as many tags as words, k is below 1, or constraints are on other words.
        """
        check_sentence(words, tags)
        check_n_analyses(k)
        n_results = k if _are_given(tags) else ALL
        nodes = self.model.nodes_of(words, tags)
        if constraints is not None and not constraints:
            return self.to_parses(*(self._search(nodes, n_results, None, False) or ([], "flat")), words, tags)[:k]
        found, unmet = self._search_under(constraints, len(words), partial(self._search, nodes, n_results))
        results, source = found or ([], "flat")
        parses = self.to_parses(results, source, words, tags)
        return [replace(parse, unmet=unmet) if unmet else parse for parse in parses[:k]]

    def score(self, words: Sequence[str], tags: Tags | None, tree: Tree) -> TreeScore:
        """Return the natural log probability and the derivation of a normalized tree of the sentence.

        tags: the tags that the sentence would be parsed under; None, or None for a word: the tree's own. If a word has
        several tags, the tree's is used if it is among them, otherwise the first. The score includes words and tags,
        and is that of this one tagging. Raises ValueError if the tree has other words.
        """
        check_words(words, tree)
        given = [tag or own for tag, own in zip(tags or tree.tags, tree.tags, strict=True)]
        shown = reachable_tags(tree.tags, given)
        grammar = self.model.grammar
        transformed = as_searched(tree, shown, grammar.labels)
        arguments = encode(transformed, grammar, self.model.vocabulary, only_known=True)
        complete = len(arguments[0]) == len(words)
        scores = MoveScores(self._moves, self._root, self._probabilities).scores_of(*arguments, complete)
        return tree_score(retag(tree, shown), transformed, scores, violations(transformed, grammar, {}))

    def log_probabilities(self, trees: Sequence[Tree]) -> list[float | None]:
        """Return the natural log probability of each of the trees, which are over the same words: that of `score`.

        It is -inf for a tree that the model gives no probability, and None for one with a label that it does not know.
        """
        scorer = MoveScores(self._moves, self._root, self._probabilities)
        moves, ids = LeftCornerMoves(self.model.grammar.nonterminals, FIRST_SYMBOL), self.model.grammar.labels.tag_ids
        lattices: dict[tuple[str, ...], Lattice] = {}
        found: list[float | None] = []
        for tree in trees:
            try:
                tags, n_closings, chains = moves.of(tree.arrays)
            except KeyError:
                found.append(None)
                continue
            if tags not in lattices:
                lattice = lattices[tags] = Lattice()
                for word, tag in zip(self.model.vocabulary.encode(tree.words), tags, strict=True):
                    lattice.push(word, (ids.get(tag, 0),))  # an unseen tag counts as the most frequent one
            found.append(sum(map(sum, scorer.scores_of(lattices[tags], n_closings, chains, True))))
        return found

    def _search(
        self, nodes: Sequence[tuple[int, tuple[int, ...]]], k: int, limits: BracketConstraints | None, is_wide: bool
    ) -> tuple[list[Analysis], str] | None:
        """Return analyses under limits and their source; None if there are none."""
        if is_wide:
            beam = self.new_beam(max(self.config.beam_size, WIDE_BEAM), None)
        else:  # that of this thread
            if not hasattr(self._beams, "beam"):
                self._beams.beam = self.new_beam(self.config.beam_size, self.config.gamma)
            beam = self._beams.beam
        beam.clear(limits)
        level, is_relaxed = 0, False
        for number, tag_ids in nodes:
            level = beam.push(level, number, tag_ids)
            is_relaxed |= beam.is_relaxed(level)
        results, end_relaxed = beam.complete(level, k)
        return (results, "relaxed" if is_relaxed or end_relaxed else "beam") if results else None

    def to_parses(
        self, results: Sequence[Analysis], source: str, words: Sequence[str], tags: Tags | None
    ) -> list[Parse]:
        """Return the trees of analyses, best first; constituents that are open at the end are closed."""
        if not _are_given(tags):  # those that differ only in tags are joined, and get the moves of the best one
            groups: dict[tuple, list[Analysis]] = {}
            for analysis in results:
                key = tuple(analysis[1]), tuple([self._chain_numbers[leaf] for leaf in analysis[2]])
                groups.setdefault(key, []).append(analysis)
            summed = []
            for (best, n_closings, leaves), *others in groups.values():
                total = log(sum([1.0, *(exp(other[0] - best) for other in others)]))
                summed.append((best + total, n_closings, leaves))
            results = sorted(summed, key=lambda analysis: -analysis[0])  # stable: ties keep the beam's order
        given = [_only_tag(tag, self.tags) for tag in tags or [None] * len(words)]
        parses: dict[Tree, Parse] = {}
        for score, n_closings, leaves in results:
            own = [self.tags[self._moves.leaves[leaf][0]] for leaf in leaves]
            chosen = [tag or found for tag, found in zip(given, own, strict=True)]
            tree = Tree(self._writer.write(self._writer.restored(n_closings, leaves), words, chosen))
            parses.setdefault(tree, Parse(tree, score, source))
        return list(parses.values()) or [Parse(flat_tree(words, [tag or self.tags[0] for tag in given]), 0.0, "flat")]

    def with_wide_search(self, n: int) -> GenerativeParser:
        """Return this parser with a search that keeps `n` hypotheses or more, whatever their scores."""
        return self.with_search(gamma=None, beam_size=max(n, self.config.beam_size))

    def with_search(self, **settings: object) -> GenerativeParser:
        """Return a parser with the same model and other search settings (beam_size, gamma ...)."""
        config = self.config.with_search(**settings)
        return GenerativeParser(self.model, config, (self._moves, self._probabilities), self.temperature)

    def start(
        self, tagger: TagSource | None = None, *, beam_size: int | None = None, gamma: float | None = None
    ) -> PrefixSession:
        """Start a sentence that arrives word by word.

        tagger: not used, since the parser finds its own tags. beam_size, gamma: the filter for measures, see
        `GenerativeConfig.measures_filter`, which raises ConfigError for wrong values.
        """
        sums = self.new_beam(*self.config.measures_filter(beam_size, gamma), merges=True)
        trees = self.new_beam(self.config.beam_size, self.config.gamma)
        return PrefixSession(self, {"sums": sums, "trees": trees})

    def measures(
        self,
        words: Sequence[str],
        tags: Tags | None = None,
        *,
        beam_size: int | None = None,
        gamma: float | None = None,
    ) -> list[WordMeasures]:
        """Return the measures of each word, see measures.py; `beam_size` and `gamma` as in `start`.

        A tag that training has not seen counts as the most frequent one, as in `parse`.
        """
        session = self.start(beam_size=beam_size, gamma=gamma)
        found = []
        for word, tag in zip(words, tags or [None] * len(words), strict=True):
            session = session.after(word, tag)
            found.append(session.measures())
        return found

    def new_beam(self, beam_size: int, gamma: float | None, *, merges: bool = False) -> Beam:
        """Return a new search; one that merges is for sums, one that does not is for trees (see `Beam`)."""
        return Beam(self._moves, self._probabilities, self._root, beam_size, float(gamma or 0.0), merges)

    def to_bytes(self, *, with_clusters: bool = True) -> bytes:
        """Return the whole parser as bytes; it has no word clusters, and leaves out a word list."""
        config = replace(self.config, word_list=None).to_dict()
        return srsly.msgpack_dumps({"config": config, "model": self.model.to_dict(), "temperature": self.temperature})

    @classmethod
    def from_bytes(cls, data: bytes) -> GenerativeParser:
        """Undo `to_bytes`. Raises ModelError for anything else."""
        with damaged("these bytes are not a generative model"):
            content = srsly.msgpack_loads(data)
            config = GenerativeConfig.from_dict(content["config"])
            model = GenerativeModel.from_dict(content["model"])
            return cls(model, config, temperature=content["temperature"])


def _only_tag(tag: Tag, known: Sequence[str]) -> str | None:
    """Return the tag that a word is shown with regardless of its derivation, or None."""
    if isinstance(tag, str):
        return tag or None
    return None if not tag or any(name in known for name, _ in tag) else tag[0][0]


def _are_given(tags: Tags | None) -> bool:
    """Return whether each word has exactly one tag."""
    return tags is not None and all(isinstance(tag, str) and tag for tag in tags)


class PrefixSession(Session):
    """The analyses of the words so far. Created by `GenerativeParser.start`."""

    look_ahead = 0  # words needed after a word before there is an answer for it: the model reads none

    def __init__(
        self,
        parser: GenerativeParser,
        beams: dict[str, Beam],
        previous: PrefixSession | None = None,
        word: tuple[str, Tag] = ("", None),
    ):
        super().__init__(previous, word)
        self._parser, self._beams = parser, beams
        self._levels: dict[str, int] = {}
        self._measures: WordMeasures | None = None
        if previous is not None:
            words = self.words
            self._number = parser.model.vocabulary.encode(words)[-1]
            self._is_first = len(words) <= n_first(words)
            self._tag_ids = parser.model.choices(self._number, word[1])

    @property
    def answered(self) -> int:
        """The number of words with an answer: all of them."""
        return len(self)

    def push(self, word: str, tag: Tag = None) -> PrefixSession:
        """Return the session with one more word, under a tag or under all tags that the word may have.

        This session does not change. Raises IncparseError for a wrong word, or for a tag that the parser does not know.
        """
        check_word(word, tag, self._parser.tags)
        return self.after(word, tag)

    def after(self, word: str, tag: Tag = None) -> PrefixSession:
        """Return the same session as `push`, but check neither word nor tag: the parse of a Doc must not stop."""
        return PrefixSession(self._parser, self._beams, self, (word, tag))

    def nbest(self, k: int, *, complete: bool = False) -> list[Parse]:
        """Return up to k analyses with different trees, best first; scores are natural log probabilities.

        `complete`: the sentence ends here, and its end counts for the score. Raises IncparseError before the first
        word.
        """
        check_n_analyses(k)
        path, beam = self._searched("trees"), self._beams["trees"]
        level = self._levels["trees"]
        words, tags = zip(*(session._word for session in path), strict=True)
        results, is_relaxed = beam.complete(level, ALL) if complete else (beam.analyses(level, ALL), False)
        is_relaxed |= any(beam.is_relaxed(session._levels["trees"]) for session in path)
        return self._parser.to_parses(results, "relaxed" if is_relaxed else "beam", words, tags)[:k]

    def measures(self) -> WordMeasures:
        """Return the measures of the last word. Raises IncparseError before the first one."""
        beam, before = self._beams["sums"], None
        for session in self._searched("sums"):
            if session._measures is None:
                level = session._levels["sums"]
                is_known = self._parser.model.vocabulary.is_known(session._number)
                word = session._word[0], session._number, session._is_first
                spelling = None if is_known else self._parser.spelling.log_probability(*word)
                is_relaxed = beam.is_relaxed(level)
                session._measures = word_measures(beam.measures(level), before, spelling, is_relaxed=is_relaxed)
            before = session._measures
        assert before is not None
        return before

    def _searched(self, name: str) -> list[PrefixSession]:
        """Let a beam absorb the words that it has not seen yet, and return the sessions up to here."""
        if not len(self):
            raise IncparseError(NO_WORDS)
        level, path = 0, self._path()
        for session in path:
            if name not in session._levels:
                session._levels[name] = self._beams[name].push(level, session._number, session._tag_ids)
            level = session._levels[name]
        return path
