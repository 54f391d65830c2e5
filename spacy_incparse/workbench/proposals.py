"""Trees that a parser, or none, proposes for the words of a sentence under all that a person has said of it."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile
from typing import Any

import spacy
from spacy.language import Language

from spacy_incparse.documents.sentences import split_sentences
from spacy_incparse.errors import IncparseError
from spacy_incparse.parsing.nbest import phrases_of
from spacy_incparse.parsing.parse import Constraint, Parse
from spacy_incparse.pipeline.loading import SENTENCES, load_for_texts, one_sentence
from spacy_incparse.pipeline.tree_pipe import TreePipe
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.builder import tree_of_phrases
from spacy_incparse.trees.labels import ROOT, UNKNOWN_TAG
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workbench.edits import Forbidden, crosses, forced

N_ALTERNATIVES = 9


@dataclass(frozen=True)
class Wanted:
    """What a person has said of a sentence: its words, phrases that are right or wrong, and tags by word."""

    words: Sequence[str]
    required: Sequence[Phrase] = ()
    forbidden: Sequence[Forbidden] = ()
    tags: Mapping[int, str] = field(default_factory=dict)

    def met_by(self, tree: Tree) -> Tree:
        """Return a tree with everything that is wanted, and otherwise like the given one."""
        return forced(tree, self.required, self.forbidden, self.tags)


class Proposer:
    """What proposes trees; this one has no parser. Its trees branch to the right, and words keep the tags they had.

    tags, labels: those of the treebank to be, as a person gives them; the first are used. lang: as spaCy calls it.
    """

    name = "none"
    local_trees: frozenset[tuple[str, ...]] = frozenset()  # that training has seen

    def __init__(self, tags: Sequence[str] = (), labels: Sequence[str] = (), lang: str = "xx"):
        self.tags, self.labels, self._lang = list(tags) or [UNKNOWN_TAG], list(labels) or ["XP"], lang
        self._seen: dict[str, Counter[str]] = {}

    def learn(self, words: Sequence[str], tags: Sequence[str]) -> None:
        """Note the tags that a person has given."""
        for word, tag in zip(words, tags, strict=True):
            self._seen.setdefault(word.lower(), Counter())[tag] += 1

    def propose(self, wanted: Wanted, otherwise: Tree | None = None) -> Tree:
        """Return the best tree with everything that is wanted; `otherwise` if a parser's grammar has no such tree."""
        return self._branching(wanted, lambda i, start, end: (i, end) if end - i > 1 else None)

    def alternatives(self, wanted: Wanted) -> list[Tree]:
        """Return a few trees with everything that is wanted, best first."""
        left = self._branching(wanted, lambda i, start, end: (start, i + 1) if i < end - 1 else None)
        return list(dict.fromkeys([self.propose(wanted), left, self._branching(wanted, lambda *_: None)]))

    def confidences(self, wanted: Wanted) -> Mapping[Phrase, float]:
        """Return the probabilities of phrases; {} if none are known."""
        return {}

    def split(self, text: str) -> Iterable[Sequence[str]]:
        """Yield the words of the sentences of a text. Raises IncparseError for a language that spaCy does not know."""
        try:
            nlp = spacy.blank(self._lang)
        except ImportError:
            raise IncparseError(f"--lang {self._lang!r}: spaCy knows no such language; xx is for any") from None
        nlp.add_pipe("sentencizer")
        return _split(nlp, text)

    def _branching(self, wanted: Wanted, span: Callable[[int, int, int], tuple[int, int] | None]) -> Tree:
        """Return a tree, given the phrase to make of each word but the first of the smallest phrase around it."""
        n, phrases = len(wanted.words), set[Phrase]()
        for i in range(1, n):
            over = (one for one in wanted.required if one[1] < i < one[2])
            found = span(i, *min(over, key=lambda one: one[2] - one[1], default=("", 0, n))[1:])
            if found and not any(crosses(("", *found), one) for one in wanted.required):
                phrases.add((self.labels[0], *found))
        seen = (self._seen.get(word.lower()) for word in wanted.words)
        tags = [one.most_common(1)[0][0] if one else self.tags[0] for one in seen]
        ordered = sorted(phrases, key=lambda one: (one[1], -one[2]))
        return wanted.met_by(tree_of_phrases([(ROOT, 0, n), *ordered], wanted.words, tags))


def _split(nlp: Language, text: str) -> Iterable[Sequence[str]]:
    for doc in nlp.pipe(part for part in text.split("\n\n") if part.strip()):
        yield from (sentence.words for sentence in split_sentences(doc))


class Model(Proposer):
    """A pipeline that parses. Raises ModelError if it cannot be loaded, IncparseError if it does not parse."""

    def __init__(self, name: str):
        self.name, self._nlp = name, load_for_texts(name)
        pipes: list[tuple[str, Any]] = [*self._nlp.pipeline]
        places = [place for place, (_, pipe) in enumerate(pipes) if isinstance(pipe, TreePipe)]
        if not places:
            raise IncparseError(f"the pipeline {name!r} has no parser: choose another --model, or --model none")
        self._pipe = pipes[places[-1]][1]
        split = [one for one in self._nlp.pipe_names if SENTENCES & {*self._nlp.get_pipe_meta(one).assigns}]
        before = enumerate(pipes[: places[-1]])
        self._before = [pipe for place, (name, pipe) in before if name not in split and place not in places]
        parser = self._pipe.decoder.parser
        super().__init__(parser.tags, parser.labels)
        self.local_trees = parser.local_trees

    def propose(self, wanted: Wanted, otherwise: Tree | None = None) -> Tree:
        """Return the best tree with everything that is wanted; `otherwise` if the grammar has no such tree."""
        parse = self._asked(self._pipe.decoder.parser.parse, wanted)
        is_lacking = parse.unmet or parse.source in ("relaxed", "flat")
        return otherwise if otherwise is not None and is_lacking else self._met(parse, wanted)

    def alternatives(self, wanted: Wanted) -> list[Tree]:
        """Return up to N_ALTERNATIVES trees and one more, best first."""
        found = self._asked(self._pipe.decoder.nbest_search.analyses, wanted, n=N_ALTERNATIVES + 1)
        return list(dict.fromkeys(self._met(one, wanted) for one in found))

    def confidences(self, wanted: Wanted) -> Mapping[Phrase, float]:
        """Return the probabilities of phrases; {} if the model has no temperature."""
        decoder = self._pipe.decoder
        if decoder.temperature is None:
            return {}
        exact = self._asked(decoder.exact.posterior, wanted) if decoder.exact else None
        return (
            exact.phrases
            if exact
            else phrases_of(self._asked(decoder.nbest_search.analyses, wanted), decoder.temperature)
        )

    def split(self, text: str) -> Iterable[Sequence[str]]:
        """Yield the words of the sentences of a text, as the pipeline finds them."""
        behind = dropwhile(lambda one: not isinstance(one[1], TreePipe), self._nlp.pipeline)
        with self._nlp.select_pipes(disable=[name for name, _ in behind]):
            yield from _split(self._nlp, text)

    def _asked(self, ask: Callable[..., Any], wanted: Wanted, **more: Any) -> Any:
        """Return what the parser, or a search with it, answers for the words, tags and constraints of a sentence."""
        right = [Constraint(start, end, label) for label, start, end in wanted.required]
        wrong = [Constraint(start, end, label, False) for label, start, end in wanted.forbidden]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of words and tags that it does not know
            doc = one_sentence(self._nlp, wanted.words)
            for pipe in self._before:
                doc = pipe(doc)
            (sentence,) = self._pipe.sentences_of(doc)
            words, tags, *rest = self._pipe.input_of(replace(sentence, constraints=(*right, *wrong)))
            known = set(self.tags)
            tags = [wanted.tags[i] if wanted.tags.get(i) in known else tag for i, tag in enumerate(tags)]
            return ask(words, tags, *rest, **more)

    @staticmethod
    def _met(parse: Parse, wanted: Wanted) -> Tree:
        return wanted.met_by(tree_of_phrases(parse.tree.spans(), wanted.words, parse.tree.tags))
