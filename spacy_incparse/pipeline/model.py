"""The `model` of a component: a tagger, a parser with its own tagger and, in training, its learner, or a reranker."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from configparser import Error as ConfigParserError
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from zlib import compress, crc32

import srsly

from spacy_incparse import data
from spacy_incparse.data import find_pipeline
from spacy_incparse.errors import ModelError
from spacy_incparse.files import unzip, write_bytes
from spacy_incparse.parsing.catalogue import find_kind, kinds
from spacy_incparse.parsing.parser import Learner, Parser

if TYPE_CHECKING:
    from confection import Config
    from spacy.language import Language

    from spacy_incparse.functions.annotator import Annotator
    from spacy_incparse.rerank.reranker import Reranker
    from spacy_incparse.tagging.tagger import Tagger


AnyModel = TypeVar("AnyModel", bound="ComponentModel")


class ComponentModel(ABC):
    """The weights of a component, with the methods that spaCy expects of a component's model.

    With a `source` (see `find_pipeline`), the weights are loaded on first access. A saved pipeline has its own weights,
    and then the source does not need to exist.
    """

    name: str
    factories: tuple[str, ...]  # components with such weights, in order of preference

    def __init__(self, source: str | Path | None = None):
        self.source = source
        self.checksum = ""
        """That of the file which the weights were read from; "" if they were never stored, or are not read yet."""

    def to_bytes(self) -> bytes:
        """Return the weights as one byte string."""
        return pack(self._to_parts())

    def from_bytes(self: AnyModel, data: bytes) -> AnyModel:
        """Load the weights that `to_bytes` returned. For other bytes, raises ModelError without changing anything."""
        parts = unpack(data)
        self._from_parts(parts)
        self.source, self.checksum = None, parts.checksum
        return self

    def to_disk(self, path: str | Path) -> None:
        """Write the weights to one file."""
        write_bytes(Path(path), self.to_bytes())

    def from_disk(self: AnyModel, path: str | Path) -> AnyModel:
        """Load the weights from a file written by `to_disk`."""
        return self.from_bytes(Path(path).read_bytes())

    def __getstate__(self) -> dict[str, Any]:
        return {"source": self.source, "data": None if self.source else self.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        type(self).__init__(self, state["source"])
        if state["data"] is not None:
            self.from_bytes(state["data"])

    def _load_source(self) -> None:
        if self.source is not None:
            parts = read_parts(self.source, *self.factories)
            self._from_parts(parts)
            self.source, self.checksum = None, parts.checksum

    @abstractmethod
    def _to_parts(self) -> dict[str, bytes]:
        """Return the named parts of the model's file."""

    @abstractmethod
    def _from_parts(self, parts: dict[str, bytes]) -> None:
        """Load the weights from the parts of a file. For other parts, raises ModelError without changing anything."""


Learnt = TypeVar("Learnt", "Tagger", "Reranker", "Annotator")


class OnePartModel(ComponentModel, Generic[Learnt]):
    """Weights that are one part of a file, or, with others, a part of a parser's."""

    part: str
    learnt_type: str  # what has the weights: module and class, imported when it is needed

    def __init__(self, source: str | Path | None = None):
        super().__init__(source)
        self._learnt: Learnt | None = None

    @property
    def learnt(self) -> Learnt | None:
        """What has the weights, or None before training."""
        self._load_source()
        return self._learnt

    @learnt.setter
    def learnt(self, learnt: Learnt) -> None:
        self.source, self._learnt, self.checksum = None, learnt, ""

    def _to_parts(self) -> dict[str, bytes]:
        return {} if self.learnt is None else {self.part: self.learnt.to_bytes()}

    def _from_parts(self, parts: dict[str, bytes]) -> None:
        known: Any = resolve_name(self.learnt_type)
        self._learnt = known.from_bytes(parts[self.part]) if self.part in parts else None


class TaggerModel(OnePartModel["Tagger"]):
    """The weights of a tagger."""

    name = "incparse_tagger"
    factories: tuple[str, ...] = ("incparse_tagger", "incparse")
    part, learnt_type = "tagger", "spacy_incparse.tagging.tagger:Tagger"
    tagger = OnePartModel.learnt

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that the tagger assigns; () if there are no weights.

        A source that cannot be read counts as no weights here, and only raises an error where weights are needed: spaCy
        requests the labels while it loads a pipeline, before the saved weights replace the source.
        """
        try:
            return () if self.tagger is None else tuple(self.tagger.labels)
        except ModelError:
            return ()


class ParserModel(TaggerModel):
    """The weights of a parser and its own tagger; in training also the learner, which is not saved."""

    name = "incparse"
    factories = ("incparse",)

    def __init__(self, source: str | Path | None = None):
        super().__init__(source)
        self._parser: Parser | None = None
        self._learner: Learner | None = None
        self._temperature: float | None = None  # if fitted here, during or after training

    @property
    def parser(self) -> Parser | None:
        """The parser; in training with the current averaged weights; None before training."""
        self._load_source()
        parser = self._parser if self._learner is None else self._learner.parser()
        if parser is not None and self._temperature is not None:
            parser.temperature = self._temperature
        return parser

    @property
    def learner(self) -> Learner | None:
        """The learner whose weights these are; None outside of training."""
        return self._learner

    @property
    def temperature(self) -> float | None:
        """The temperature that turns the parser's scores into probabilities; None if it was never fitted."""
        return None if self.parser is None else self.parser.temperature

    @temperature.setter
    def temperature(self, temperature: float | None) -> None:
        self._temperature = temperature

    @property
    def labels(self) -> tuple[str, ...]:
        """The phrase labels that the parser assigns; () if there are no weights."""
        try:
            return () if self.parser is None else tuple(self.parser.labels)
        except ModelError:
            return ()

    def start_training(self, learner: Learner, tagger: Tagger | None, temperature: float | None = None) -> None:
        """Discard the weights and use those that the learner learns from now on."""
        self.source, self._learnt, self.checksum = None, tagger, ""
        self._learner, self._parser, self._temperature = learner, None, temperature

    def set_weights(self, tagger: Tagger | None, parser: Parser) -> None:
        """Set a parser and its tagger that were trained elsewhere; a parser that assigns its own tags has no tagger."""
        self.source, self._learnt, self.checksum = None, tagger, ""
        self._learner, self._parser, self._temperature = None, parser, None

    def _to_parts(self) -> dict[str, bytes]:
        parser, parts = self.parser, super()._to_parts()
        if parser is None:
            return parts
        clusters = self.tagger.clusters if self.tagger else None
        is_shared = clusters is not None and parser.clusters == clusters  # then they are stored with the tagger
        return parts | {find_kind(parser.kind).part_name: parser.to_bytes(with_clusters=not is_shared)}

    def _from_parts(self, parts: dict[str, bytes]) -> None:
        before = self._learnt
        super()._from_parts(parts)
        try:
            self._parser = _read_parser(parts, self._learnt)
        except ModelError:
            self._learnt = before
            raise
        self._learner, self._temperature = None, None


def _read_parser(parts: dict[str, bytes], tagger: Tagger | None) -> Parser | None:
    for kind in kinds().values():
        if kind.part_name in parts:
            return kind.read(parts[kind.part_name], tagger.clusters if tagger else None)
    return None


class RerankerModel(OnePartModel["Reranker"]):
    """The weights of a reranker."""

    name = "incparse_reranker"
    factories = (name,)
    part, learnt_type = "reranker", "spacy_incparse.rerank.reranker:Reranker"

    @property
    def temperature(self) -> float | None:
        """The temperature that turns the reranker's scores into probabilities; None without weights."""
        return None if self.learnt is None else self.learnt.temperature

    @temperature.setter
    def temperature(self, temperature: float) -> None:
        if self.learnt is not None:
            self.learnt.temperature = temperature


class FunctionsModel(OnePartModel["Annotator"]):
    """The weights that find function tags and empty categories."""

    name = "incparse_functions"
    factories = (name,)
    part, learnt_type = "functions", "spacy_incparse.functions.annotator:Annotator"

    @property
    def tags(self) -> tuple[str, ...]:
        """The function tags that it can add; () if there are no weights."""
        try:
            return () if self.learnt is None else self.learnt.inventory.tags
        except ModelError:
            return ()


def check_source(nlp: Language, name: str, source: str | Path | None, model: type[ComponentModel]) -> set[str]:
    """Raise ModelError now, and not at the first text, if the weights of a source cannot be read.

    Return the names of the parts of the weights. Warns if they are those of another language than the pipeline's.

    This is skipped for a component that is being loaded: a saved pipeline has its weights, and the source may not exist
    any more.
    """
    if source is None or is_being_loaded(nlp, name):
        return set()
    parts = set(read_parts(source, *model.factories))
    lang = srsly.read_json(find_pipeline(source) / "meta.json").get("lang", "xx")
    if lang != nlp.lang and "xx" not in (lang, nlp.lang):
        warnings.warn(f"{name}: the model {str(source)!r} is for {lang!r}, the pipeline for {nlp.lang!r}", stacklevel=2)
    return parts


def is_being_loaded(nlp: Language, name: str) -> bool:
    """Return whether a component belongs to a saved pipeline, whose metadata spaCy has already copied to `nlp`."""
    return name in getattr(nlp, "_meta", {}).get("pipeline", ())


# The file has a line with the format, a line with a checksum, and a compressed msgpack map of byte strings. Nothing in
# it is ever executed. All of this is checked before any weights are used.

FORMAT = b"spacy-incparse model 3"
FACTORIES = (
    "incparse",
    "incparse_tagger",
    "incparse_reranker",
    "incparse_functions",
)  # components that have such a file


def pack(parts: Mapping[str, bytes]) -> bytes:
    """Return one byte string that contains the named parts; `unpack` is the inverse."""
    body = compress(srsly.msgpack_dumps(dict(parts)), 6)
    return b"%s\n%08x\n%s" % (FORMAT, crc32(body), body)


class Parts(dict[str, bytes]):
    """The named parts of a model's file, and its checksum."""

    checksum = ""


def unpack(data: bytes) -> Parts:
    """Return the packed parts. Raises ModelError if the format is unknown or the bytes are damaged."""
    head, _, rest = data.partition(b"\n")
    if head != FORMAT and FORMAT.startswith(head):
        raise ModelError("the model is truncated: it ends in its first line")
    if head != FORMAT:
        shown = head[:40].decode("ascii", "replace")
        raise ModelError(f"the model is in format {shown!r}, but this version reads {FORMAT.decode()!r}: retrain it")
    checksum, _, body = rest.partition(b"\n")
    if checksum != b"%08x" % crc32(body):
        raise ModelError("the model is damaged or truncated: its checksum differs")
    try:
        parts = srsly.msgpack_loads(unzip(body, "its parts are"))
    except Exception as error:
        raise ModelError(f"the model is damaged: {error}") from None
    if not isinstance(parts, dict) or not all(isinstance(part, bytes) for part in parts.values()):
        raise ModelError("the model is damaged: it is not a map of byte strings")
    found = Parts(parts)
    found.checksum = checksum.decode()
    return found


def check_pipeline(folder: Path, exclude: Collection[str] = ()) -> None:
    """Check the weights of all our components in a saved pipeline. Raises ModelError naming the invalid file.

    exclude: names of components that will not be loaded.
    """
    for _, path in _files(folder, *FACTORIES):
        if path.parent.name not in exclude:
            _read_file(path)


def read_parts(source: str | Path, *factories: str) -> Parts:
    """Return the parts of a component's weights in a pipeline, without loading the pipeline.

    `source` is as in `find_pipeline`; `factories` are in order of preference, and the first component of the best
    factory is used. Raises ModelError if the pipeline or component does not exist, or its file is damaged.
    """
    folder = find_pipeline(source)
    files = _files(folder, *factories)
    if not files and factories == FunctionsModel.factories and (shared := shared_functions(folder)):
        files = [(factories[0], shared)]
    if not files:
        neural, hint = "incparse_neural", ""
        if factories == FunctionsModel.factories:
            hint = (
                ", and none comes with the package for its language: train one with `spacy-incparse train --functions`"
            )
        elif any(settings.get("factory") == neural for settings in read_components(folder)):
            hint = f": add its parser with nlp.add_pipe('{neural}', source=spacy_incparse.load({str(source)!r}))"
        raise ModelError(f"the pipeline {str(source)!r} has no component {' or '.join(factories)}{hint}")
    _, path = min(files, key=lambda file: factories.index(file[0]))
    return _read_file(path)


def shared_functions(folder: Path) -> Path | None:
    """Return the weights of `incparse_functions` that come with the package for a pipeline's language, if there are."""
    path = Path(data.__file__).parent / "functions" / _read_config(folder)["nlp"].get("lang", "")
    return path if path.is_file() else None


@contextmanager
def named_errors(folder: str | Path) -> Iterator[None]:
    """Convert errors in reading a component's folder to a ModelError that names the folder."""
    try:
        yield
    except FileNotFoundError as error:
        raise ModelError(
            f"{folder}: the model is incomplete: {Path(error.filename or folder).name!r} is missing"
        ) from None
    except ModelError as error:
        raise ModelError(f"{Path(folder) / 'model'}: {error}") from None
    except (ValueError, OSError) as error:
        raise ModelError(f"{folder}: the component cannot be read: {error}") from None


def read_components(folder: Path) -> list[dict[str, Any]]:
    """Return the settings of a saved pipeline's components that are not disabled, in their order.

    Raises ModelError for a damaged config.
    """
    config = _read_config(folder)
    components, nlp = config.get("components", {}), config.get("nlp", {})
    names = [name for name in nlp.get("pipeline", []) if name not in nlp.get("disabled", [])]
    return [components.get(name, {}) for name in names]


def _read_config(folder: Path) -> Config:
    from spacy.util import load_config

    try:
        return load_config(folder / "config.cfg")
    except (ValueError, OSError, ConfigParserError) as error:
        raise ModelError(
            f"{folder / 'config.cfg'}: the config cannot be read: {' '.join(str(error).split())}"
        ) from None


def _files(folder: Path, *factories: str) -> list[tuple[str, Path]]:
    """Return (factory, file) of the components with these factories, in the order of the config."""
    return [
        (settings["factory"], folder / name / "model")
        for name, settings in _read_config(folder).get("components", {}).items()
        if settings.get("factory") in factories
    ]


def _read_file(path: Path) -> Parts:
    with named_errors(path.parent):
        return unpack(path.read_bytes())
