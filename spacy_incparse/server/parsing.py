"""What requests ask of a pipeline: Docs, and the sentences of a text with their words and trees."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from spacy.tokens import Doc
from spacy.util import get_words_and_spaces

from spacy_incparse.corpora.worker import Annotator
from spacy_incparse.documents.sentences import split_sentences
from spacy_incparse.documents.storage import anchored_trees
from spacy_incparse.pipeline.loading import SENTENCES, add_functions
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree


class Wanted(NamedTuple):
    """What is wanted of texts, and how they are cut where the pipeline does not decide.

    breaks: a regular expression for what separates parts of a text. is_sentence: whether each part is one sentence.
    by_blanks: whether only white space separates words. The others are for CoreNLP's clients; timeout: in seconds.
    """

    trees: bool = True
    functions: bool = False
    breaks: str | None = None
    is_sentence: bool = False
    by_blanks: bool = False
    annotators: Collection[str] = ()
    format: str = "json"
    codepoints: bool = False
    pattern: str = ""
    timeout: float = inf


class Sentence(NamedTuple):
    """The words of a sentence with their characters in the text. tree: with the root ROOT; None if none was wanted."""

    words: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    tree: Tree | None


class Service:
    """A pipeline that answers requests, for one thread. Raises ModelError if it cannot be loaded or does not parse."""

    def __init__(self, model: str):
        self._nlp = Annotator(model).nlp
        self.language, names = str(self._nlp.lang), set(self._nlp.pipe_names)
        if self.language == "en":
            add_functions(self._nlp, "en")
        self._added = [name for name in self._nlp.pipe_names if name not in names]
        self.answer(lambda: len(self.docs(["Warm."], Wanted(functions=True))))  # some tables are read on first use

    def answer(self, make: Callable[[], Any]) -> Any:
        """Return what a function makes of Docs, which may not be kept: what they add to the vocabulary is freed."""
        with self._nlp.memory_zone(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about single texts
            return make()

    def docs(self, texts: Iterable[str | Sequence[str]], wanted: Wanted, deadline: float | None = None) -> list[Doc]:
        """Return the Docs of texts, or of sentences given as words. Raises TimeoutError behind the deadline."""
        nlp, docs = self._nlp, list[Doc]()
        splitters = {name for name in nlp.pipe_names if SENTENCES & set(nlp.get_pipe_meta(name).assigns)}
        others = set(() if wanted.functions else self._added) if wanted.trees else {*nlp.pipe_names} - splitters
        with nlp.select_pipes(disable=[*others, *(splitters if wanted.is_sentence else ())]):
            for doc in nlp.pipe((self._doc(text, wanted) for text in texts), batch_size=32):
                if deadline is not None and time.monotonic() > deadline:
                    raise TimeoutError
                docs.append(doc)
        return docs

    def sentences(self, text: str, wanted: Wanted, deadline: float | None = None) -> list[Sentence]:
        """Return the sentences of a text. Raises TimeoutError behind the deadline."""
        breaks = re.finditer(wanted.breaks, text) if wanted.breaks else ()
        edges = [0, *(place for one in breaks for place in one.span()), len(text)]
        bounds = [(start, end) for start, end in list(pairwise(edges))[::2] if text[start:end].strip()]
        found = list[Sentence]()
        for (origin, _), doc in zip(bounds, self.docs((text[a:b] for a, b in bounds), wanted, deadline), strict=True):
            of_doc: Sequence[Any] = anchored_trees(doc) if wanted.trees else split_sentences(doc)
            for one in of_doc:
                tree = one.tree.map_labels({ROOT: "ROOT"}) if wanted.trees else None
                before = origin + (one.start_char if wanted.trees else 0)
                starts, ends = ([before + char for char in chars] for chars in (one.char_starts, one.char_ends))
                found.append(Sentence(tree.words if tree else one.words, starts, ends, tree))
        return found

    def _doc(self, text: str | Sequence[str], wanted: Wanted) -> Doc:
        if isinstance(text, str) and not wanted.by_blanks:
            doc = self._nlp.make_doc(text)
        else:
            words, spaces = get_words_and_spaces(text.split(), text) if isinstance(text, str) else (list(text), None)
            doc = Doc(self._nlp.vocab, words=words, spaces=spaces)
        for token in doc if wanted.is_sentence else ():
            token.is_sent_start = token.i == 0
        return doc
