"""Pipelines by name or path, and `Parser`, which parses words or text without a pipeline of your own."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence, Set, Sized
from contextlib import contextmanager
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_incparse.data import find_pipeline
from spacy_incparse.documents.extensions import doc_trees
from spacy_incparse.errors import INSTALL_TRANSFORMERS, IncparseError, ModelError, check_type, has_transformers
from spacy_incparse.pipeline.model import check_pipeline
from spacy_incparse.pipeline.tree_pipe import TreePipe
from spacy_incparse.trees.tree import Tree


def load(name: str | Path = "en", *, functions: bool = False, **kwargs: Any) -> Language:
    """Return a whole pipeline, given the name of an embedded pipeline or the path of a saved one.

    functions: whether it also finds function tags and empty categories, by the component `incparse_functions` with what
        comes with the package for its language, unless the pipeline has its own.

    `kwargs` are passed to `spacy.load` (`disable`, `exclude`, `config`, `vocab`). Raises ModelError if the pipeline
    does not exist, or its weights are damaged or from another version. This is checked before anything is loaded.
    """
    folder = find_pipeline(name)
    exclude = kwargs.get("exclude", ())
    check_pipeline(folder, [exclude] if isinstance(exclude, str) else list(exclude))
    nlp = spacy.load(folder, **kwargs)
    if functions:
        add_functions(nlp, name)
    return nlp


def add_functions(nlp: Language, model: str | Path) -> Any:
    """Return the component `incparse_functions` of a pipeline, added with the weights for a model if there is none."""
    for name, factory in nlp.pipe_factories.items():
        if factory == "incparse_functions":
            return nlp.get_pipe(name)
    return nlp.add_pipe("incparse_functions", config={"model": str(model)})


def load_for_texts(name: str) -> Language:
    """Return a whole pipeline that takes texts of any length, and does not store measures of words.

    Raises ModelError if it cannot be loaded.
    """
    folder = find_pipeline(name)
    try:
        nlp = load(folder)
    except (ValueError, ImportError, KeyError) as error:
        raise ModelError(f"the pipeline {name!r} cannot be loaded: {_hint(str(error))}{error}") from error
    nlp.max_length = sys.maxsize  # spaCy's limit is for components that need a lot of memory for long texts
    for _, component in nlp.pipeline:
        if isinstance(component, TreePipe):
            component.measures = False  # they take longer than the trees
    return nlp


def find_parser(nlp: Language, name: str) -> TreePipe:
    """Return the last component of a pipeline that parses: its trees stay. Raises ModelError if there is none."""
    for _, component in reversed(nlp.pipeline):
        if isinstance(component, TreePipe):
            return component
    has = ", ".join(nlp.pipe_names) or "no components"
    raise ModelError(f"the pipeline {name!r} has no component 'incparse' (it has {has}), so it cannot parse")


def _hint(error: str) -> str:
    """Return what to install, if an error is about a component of a package that is not installed."""
    if "curated_transformer" in error.replace("-", "_") and not has_transformers():
        return f"it needs {INSTALL_TRANSFORMERS}. "
    return ""


BATCH_SIZE = 128  # sentences parsed at once

Words = str | Sequence[str]  # a sentence: its text, or its words


def one_sentence(nlp: Language, sentence: Words, tags: Sequence[str] | None = None) -> Doc:
    """Return a Doc with one sentence, given by its text or by its words and perhaps their tags."""
    if isinstance(sentence, str):
        doc = nlp.make_doc(sentence)
    else:
        doc = Doc(nlp.vocab, words=list(sentence), tags=None if tags is None else list(tags))
    for token in doc:
        token.is_sent_start = token.i == 0
    return doc


class Parser:
    """Parse sentences given as words or as text, like benepar's `Parser`.

    model: the name of an embedded pipeline, such as "en", or the path of a saved one.
    """

    def __init__(self, model: str | Path = "en"):
        self.nlp = load(model)
        find_parser(self.nlp, str(model))  # raises its error

    def parse(self, sentence: Words, tags: Sequence[str] | None = None) -> Tree:
        """Return the tree of a sentence.

        sentence: its words, such as ["It", "rained", "."], or its text, which the pipeline's tokenizer splits.
        tags: the part-of-speech tag of each word; by default, the model assigns them.
        Raises IncparseError for a sentence without words, and for tags that do not fit them.
        """
        tree = next(self.parse_sents([sentence], None if tags is None else [tags]))
        if tree is None:
            raise IncparseError(f"cannot parse a sentence without words: {sentence!r}")
        return tree

    def parse_sents(
        self, sentences: str | Iterable[Words], tags: Iterable[Sequence[str]] | None = None
    ) -> Iterator[Tree | None]:
        """Yield the trees of sentences, each given as in `parse`; a single text is first split into sentences.

        There is a tree for each sentence, None for one without words.

        tags: the tags of the words of each sentence. If they are a list, it may not be longer than the sentences; an
        iterator may go on. Other errors are as in `parse`.
        """
        if isinstance(sentences, str):
            if tags is not None:
                raise IncparseError("tags can only be passed with sentences given as words, not with a text")
            yield from map(_plain, doc_trees(self.nlp(sentences)))
            return
        check_type("sentences", sentences, Iterable, "a text, or an iterable of sentences")
        check_type("tags", tags, Iterable | None, "a list of tags for each sentence, or None")
        remaining = repeat(None) if tags is None else iter(tags)
        docs = (self._doc(sentence, next(remaining, ())) for sentence in sentences)
        own = SENTENCES | (set() if tags is None else {"token.tag"})  # what no component may replace
        while batch := list(islice(docs, BATCH_SIZE)):
            with given(self.nlp, own, None if tags is None else "doc"):
                parsed = list(self.nlp.pipe(batch))
            yield from (next(map(_plain, doc_trees(doc)), None) for doc in parsed)
        if isinstance(tags, Sized) and next(remaining, None) is not None:  # an iterator may have no end
            raise IncparseError("pass one list of tags for each sentence: there are more lists than sentences")

    def _doc(self, sentence: Words, tags: Sequence[str] | None) -> Doc:
        if not isinstance(sentence, Iterable):
            raise IncparseError(f"a sentence has to be a text, or a list of words, not {sentence!r}")
        sentence = sentence if isinstance(sentence, str) else list(sentence)
        if tags is not None and (
            isinstance(sentence, str)
            or not isinstance(tags, Sequence)
            or isinstance(tags, str)
            or len(tags) != len(sentence)
        ):
            raise IncparseError(f"pass one tag for each of the words {sentence!r}, not {tags!r}")
        _check_strings("tag", tags or ())
        if not isinstance(sentence, str):
            _check_strings("word", sentence)
        return one_sentence(self.nlp, sentence, tags)


def _check_strings(what: str, values: Iterable[object]) -> None:
    """Raise IncparseError unless all words, or tags, are non-empty strings."""
    for value in values:
        if not isinstance(value, str) or not value.strip():
            raise IncparseError(f"a {what} has to be a non-empty string, not {value!r}")


def _plain(tree: Tree) -> Tree:
    """Return the tree without a reference to its Doc."""
    return Tree(tree.arrays)


SENTENCES = frozenset(["token.is_sent_start", "doc.sents"])  # what spaCy's components assign that set sentences


@contextmanager
def given(nlp: Language, annotations: Set[str], tags: str | None = None) -> Iterator[None]:
    """Disable the components that would add annotations that the Docs already have; set the `tags` of all parsers."""
    givers = [name for name in nlp.pipe_names if not annotations.isdisjoint(nlp.get_pipe_meta(name).assigns)]
    parsers = [pipe for _, pipe in nlp.components if isinstance(pipe, TreePipe)]
    before = [parser.tags for parser in parsers]
    try:
        for parser in parsers:
            parser.tags = tags or parser.tags
        with nlp.select_pipes(disable=givers):
            yield
    finally:
        for parser, own in zip(parsers, before, strict=True):
            parser.tags = own
