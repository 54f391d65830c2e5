"""The corpus reader for configs: it reads treebank files, or `.spacy` files from `convert`."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_incparse.documents.gold import example_of, trees_to_docs
from spacy_incparse.documents.sentences import has_sentence_bounds
from spacy_incparse.documents.storage import anchored_trees
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.settings import MOST, check_number
from spacy_incparse.treebanks.normalize import normalize
from spacy_incparse.treebanks.reader import SkipLog, read_trees
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.rerank.lists import CandidateList


def create_treebank_reader(
    path: str | Path | None,
    limit: int = 0,
    max_length: int = 0,
    skip_bad: bool = False,
    natural_spacing: bool = False,
    tags: bool = True,
) -> Callable[[Language], Iterable[Example]]:
    """Return a `TreebankReader`, for `@readers = "spacy_incparse.TreebankReader.v1"` in a config."""
    return TreebankReader(
        path, limit=limit, max_length=max_length, skip_bad=skip_bad, natural_spacing=natural_spacing, tags=tags
    )


def create_list_reader(path: str | Path | None) -> Iterable[CandidateList] | None:
    """Return the n-best lists that a reranker learns from, for `@readers = "spacy_incparse.CandidateLists.v1"`.

    path: a file with lists, or a folder of .jsonl and .jsonl.gz files; None: no lists.
    """
    if path is None:
        return None
    from spacy_incparse.rerank.list_folders import TrainingLists  # may load compiled modules

    return TrainingLists(path)


class TreebankReader:
    """Yield examples whose references have gold trees, tags and sentence boundaries.

    path: a bracket file (.mrg, also gzipped), a folder or glob of these, or a `.spacy` file or a folder of these.
    limit: the maximum number of examples; 0: no limit. An example is a sentence of a bracket file, or a Doc.
    max_length: skip sentences with more words; 0: no limit.
    skip_bad: skip malformed trees in bracket files, with a warning that counts them, instead of raising an error.
    natural_spacing: put spaces into the reference as in ordinary text (bracket files only). The pipeline's tokenizer
        then creates the predicted Doc; otherwise it has the gold tokens and sentence boundaries.
    tags: whether the words of bracket files have POS nodes. If not, as in `(NP the cat)`, each word gets the tag X.
    """

    def __init__(
        self,
        path: str | Path | None,
        *,
        limit: int = 0,
        max_length: int = 0,
        skip_bad: bool = False,
        natural_spacing: bool = False,
        tags: bool = True,
    ):
        if path is None:
            raise ConfigError("the corpus has no path: set one, as in --paths.train train.mrg --paths.dev dev.mrg")
        check_number("limit", limit, 0, MOST)
        check_number("max_length", max_length, 0, MOST)
        self.path, self.limit, self.max_length = Path(path), limit, max_length
        self.skip_bad, self.natural_spacing, self.tags = skip_bad, natural_spacing, tags

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield the examples in the order of the files."""
        docs = self._from_docbins(nlp) if self._docbins() else self._from_brackets(nlp)
        return islice(docs, self.limit or None)

    def _docbins(self) -> list[Path]:
        if self.path.is_dir():
            return sorted(self.path.rglob("*.spacy"))
        return [self.path] if self.path.suffix == ".spacy" else []

    def _from_brackets(self, nlp: Language) -> Iterator[Example]:
        for doc in trees_to_docs(self._trees(), nlp.vocab, natural_spacing=self.natural_spacing):
            yield example_of(nlp, doc, tokenize=not doc.has_unknown_spaces)

    def _trees(self) -> Iterator[Tree]:
        skipped = SkipLog() if self.skip_bad else None
        for raw in read_trees(self.path, skip_bad=skipped, tags=self.tags):
            tree = normalize(raw)
            if tree is not None and (not self.max_length or len(tree.words) <= self.max_length):
                yield tree
        if skipped:
            warnings.warn(f"{self.path}: {skipped}", stacklevel=2)

    def _from_docbins(self, nlp: Language) -> Iterator[Example]:
        for path in self._docbins():
            for doc in read_docbin(path, nlp.vocab):
                for part in self._short_enough(doc):
                    yield example_of(nlp, part, tokenize=not doc.has_unknown_spaces)

    def _short_enough(self, doc: Doc) -> Iterator[Doc]:
        """Yield the Doc; if it has a sentence that is too long, yield each of its other sentences as a Doc."""
        sentences = list(doc.sents) if has_sentence_bounds(doc) and len(doc) else [doc[:]]
        if not self.max_length or all(len(sentence) <= self.max_length for sentence in sentences):
            yield doc
            return
        for sentence in sentences:
            if len(sentence) <= self.max_length:
                yield sentence.as_doc(copy_user_data=True)


def read_docbin(path: Path, vocab: Vocab) -> Iterator[Doc]:
    """Yield the Docs of a `.spacy` file. Raises IncparseError if a Doc has no trees or the file is damaged."""
    try:
        docs = DocBin().from_disk(path)
    except FileNotFoundError:
        raise IncparseError(f"{path}: there is no such file") from None
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise IncparseError(f"{path}: the file is not a DocBin, or is damaged: {error}") from None
    for doc in docs.get_docs(vocab):
        if any(not token.is_space for token in doc) and not anchored_trees(doc):
            raise IncparseError(
                f"{path}: a Doc has no trees: was the DocBin written without store_user_data=True? "
                f"`spacy-incparse convert` keeps the trees"
            )
        yield doc
