"""What configs name by `@readers`, `@batchers` and `@callbacks`: treebanks, and the passes of spaCy's training loop."""

from __future__ import annotations

import random
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import registry, resolve_dot_names
from spacy.vocab import Vocab

from spacy_incparse.documents.gold import example_of, trees_to_docs
from spacy_incparse.documents.live_parsers import components_of, parsing_names
from spacy_incparse.documents.sentences import has_sentence_bounds
from spacy_incparse.documents.storage import anchored_trees
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.files import release_memory
from spacy_incparse.settings import MOST, check_number
from spacy_incparse.training.temperature import MAX_SENTENCES
from spacy_incparse.treebanks.reader import ANNOTATED, STANDARD, SkipLog, normalize, read_trees, with_separators
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.rerank.lists import CandidateList


Item = TypeVar("Item")


def create_pass_batcher() -> Callable[[Iterable[Item]], Iterator[list[Item]]]:
    """Return `batch_by_pass`, for `@batchers = "spacy_incparse.batch_by_pass.v1"` in a config."""
    return batch_by_pass


def batch_by_pass(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield all items as one batch, so that each training step is one pass over the treebank and evaluated once."""
    batch = list(items)
    if batch:
        yield batch


def create_free_memory() -> Callable[[Language, Mapping[str, Any]], None]:
    """Return `free_memory`, for `[training.before_update]` with `@callbacks = "spacy_incparse.free_memory.v1"`."""
    return free_memory


def free_memory(nlp: Language, update: Mapping[str, Any]) -> None:
    """Give memory that is no longer used back to the system, at every 50th update.

    PyTorch on the CPU asks for blocks of ever-changing sizes, so that a long training would need several times its
    memory.
    """
    if update["step"] % 50 == 0:  # what comes back is what a network's updates needed most
        release_memory()


def create_fit_steps() -> Callable[[Language], None]:
    """Return `fit_steps`, for `[initialize.after_init]` with `@callbacks = "spacy_incparse.fit_steps.v1"`."""
    return fit_steps


def fit_steps(nlp: Language) -> None:
    """Fit the learning-rate schedule to the size of the training corpus, and evaluate at least once per pass.

    Sets `total_steps` and `warmup_steps` of the schedule, if it has them, by the config's batches, `max_epochs` and
    `max_steps`, and lowers `eval_frequency` so that the last evaluation is near the end. Does nothing without a corpus,
    as in `spacy pretrain`, or for one that is streamed (`max_epochs = -1`).
    """

    config = nlp.config.interpolate()
    if config["training"]["max_epochs"] < 0:
        return
    try:
        (corpus,) = resolve_dot_names(config, [config["training"]["train_corpus"]])
        examples = list(corpus(nlp))
    except (ValueError, OSError):  # `spacy train` has read it before, so that nothing is hidden
        return
    set_steps(nlp, examples)


def create_calibrate() -> Callable[[Language], Language]:
    """Return `calibrate`, for `[training.before_to_disk]` with `@callbacks = "spacy_incparse.calibrate.v1"`."""
    return calibrate


def calibrate(nlp: Language) -> Language:
    """Fit the temperature of each component that is trained on the config's dev corpus, and return the pipeline."""
    config = nlp.config.interpolate()
    (corpus,) = resolve_dot_names(config, [config["training"]["dev_corpus"]])
    examples = list(islice(corpus(nlp), MAX_SENTENCES))
    with nlp.select_pipes(disable=_not_needed(nlp)):
        for example, doc in zip(examples, nlp.pipe([example.predicted for example in examples]), strict=True):
            example.predicted = doc
    for component in components_of(nlp):
        if component.name not in config["training"]["frozen_components"]:
            component.calibrate(examples)
    return nlp


def _not_needed(nlp: Language) -> list[str]:
    """Return the names of the components that no parser's temperature depends on.

    These are the ones after the last parser, and the parsers that only add trees, unless another component follows that
    may read them before a later parser.
    """
    parsing, names = parsing_names(nlp), list[str]()
    is_behind = True
    for name in reversed(nlp.pipe_names):
        if name in parsing:
            is_behind = False
            if not getattr(nlp.get_pipe(name), "set_tags", False):
                names.append(name)
        elif is_behind:
            names.append(name)
        else:
            break
    return names


WARM_UP = 0.05  # the part of a training run in which the learning rate grows
EVALUATED = 0.97  # of a pass, so that the last evaluation comes before the end, whatever the order of the batches


def set_steps(nlp: Language, examples: Sequence[Example]) -> None:
    """Fit the section [training] of a pipeline's config to the examples of a pass.

    Sets the steps of a learning-rate schedule with warm-up, such as `warmup_linear.v1`, and lowers `eval_frequency` to
    less than a pass: `spacy train` keeps no weights before its first evaluation.
    """
    settings, training = nlp.config.interpolate()["training"], nlp.config["training"]
    batcher = registry.resolve({"batcher": settings["batcher"]})["batcher"]
    shuffled = random.Random(0).sample(examples, len(examples))  # in batches by words, the order changes their number
    n_batches = max(1, sum(1 for _ in batcher(shuffled)))
    limits = [n for n in (n_batches * settings["max_epochs"], settings["max_steps"]) if n]
    in_pass = min(n_batches, *limits) if limits else n_batches
    training["eval_frequency"] = min(settings["eval_frequency"], max(1, int(EVALUATED * in_pass)))
    optimizer = training["optimizer"]
    rate = optimizer.get("learn_rate") if isinstance(optimizer, dict) else None
    if isinstance(rate, dict) and "total_steps" in rate and limits:
        rate["total_steps"] = min(limits)
        rate["warmup_steps"] = max(1, round(WARM_UP * rate["total_steps"]))


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
    skip_bad: skip malformed trees in bracket files, with a warning that counts them.
    natural_spacing: write the words of bracket files as ordinary text, for the pipeline's tokenizer and splitter;
        otherwise they have the gold tokens and sentence boundaries.
    tags: whether the words of bracket files have POS nodes. If not, as in `(NP the cat)`, each word gets the tag X.
    separators: what separates functions in bracket files besides - and =, such as "_*" for NP_SB and ADJP*OC.
    functions: whether the trees of bracket files keep function tags and traces, for `incparse_functions`.
    """

    def __init__(
        self,
        path: str | Path | None,
        limit: int = 0,
        max_length: int = 0,
        skip_bad: bool = False,
        natural_spacing: bool = False,
        tags: bool = True,
        separators: str | None = None,
        functions: bool = False,
    ):
        if path is None:
            raise ConfigError("the corpus has no path: set one, as in --paths.train train.mrg --paths.dev dev.mrg")
        check_number("limit", limit, 0, MOST)
        check_number("max_length", max_length, 0, MOST)
        self.path, self.limit, self.max_length = Path(path), limit, max_length
        self.skip_bad, self.natural_spacing, self.tags = skip_bad, natural_spacing, tags
        steps = ANNOTATED if functions else None  # None: STANDARD, which is fastest so
        self._steps = steps if separators is None else (with_separators(separators), *(steps or STANDARD))

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
            tree = normalize(raw, self._steps)
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


create_treebank_reader = TreebankReader
"""For `@readers = "spacy_incparse.TreebankReader.v1"` in a config."""


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
