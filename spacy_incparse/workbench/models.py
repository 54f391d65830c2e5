"""Pipelines that propose trees. What imports this imports spaCy, which takes a second."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile, takewhile
from typing import Any

import spacy
from spacy.language import Language

from spacy_incparse.documents.sentences import split_sentences
from spacy_incparse.errors import IncparseError
from spacy_incparse.parsing.nbest import phrases_of
from spacy_incparse.parsing.parse import Constraint, Parse
from spacy_incparse.pipeline.loading import SENTENCES, find_parser, load_for_texts, one_sentence
from spacy_incparse.pipeline.tree_pipe import TreePipe
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.builder import tree_of_phrases
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workbench.proposals import N_ALTERNATIVES, Proposer, Wanted


def blank_split(lang: str, text: str) -> Iterable[Sequence[str]]:
    """Yield the words of the sentences of a text. Raises IncparseError for a language that spaCy does not know."""
    try:
        nlp = spacy.blank(lang)
    except ImportError:
        raise IncparseError(f"--lang {lang!r}: spaCy knows no such language; xx is for any") from None
    nlp.add_pipe("sentencizer")
    return _split(nlp, text)


def _split(nlp: Language, text: str) -> Iterable[Sequence[str]]:
    for doc in nlp.pipe(part for part in text.split("\n\n") if part.strip()):
        yield from (sentence.words for sentence in split_sentences(doc))


class Model(Proposer):
    """A pipeline that parses. Raises ModelError if it cannot be loaded or does not parse."""

    def __init__(self, name: str):
        self.name, self._nlp = name, load_for_texts(name)
        self._pipe: Any = find_parser(self._nlp, name)
        split = [one for one in self._nlp.pipe_names if SENTENCES & {*self._nlp.get_pipe_meta(one).assigns}]
        before: list[tuple[str, Any]] = [*takewhile(lambda one: one[1] is not self._pipe, self._nlp.pipeline)]
        self._before = [pipe for name, pipe in before if name not in split and not isinstance(pipe, TreePipe)]
        parser = self._pipe.decoder.parser
        super().__init__(parser.tags, parser.labels)
        self.local_trees = parser.local_trees

    def propose(self, wanted: Wanted, otherwise: Tree | None = None) -> Tree:
        """Return the best tree with everything that is wanted; `otherwise` if the grammar has no such tree."""
        parse = self._asked(self._pipe.decoder.parser.parse, wanted)
        is_lacking = parse.unmet or parse.source in ("relaxed", "flat")
        return otherwise if otherwise is not None and is_lacking else self._met(parse, wanted)

    def alternatives(self, wanted: Wanted) -> list[Tree]:
        """Return trees with everything that is wanted, best first, more than are shown."""
        found = self._asked(self._pipe.decoder.nbest_search.analyses, wanted, n=4 * N_ALTERNATIVES)
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
