"""Where an n-best list comes from: a file beside a file of lists says what its parser was trained on.

A reranker that learns from the lists of a parser on its own training sentences learns that the parser is nearly always
right. So whoever makes lists writes down which sentences the parser has seen, and whoever learns from them checks it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import srsly

from spacy_incparse.errors import IncparseError
from spacy_incparse.files import write_bytes

SUFFIX = ".origin.json"
FORMAT = "spacy-incparse list origin 1"


@dataclass(frozen=True)
class ListOrigin:
    """The parser that made the lists of a file.

    parser: a checksum of its weights. trained_on: the keys of the sentences that it was trained on (`sentence_key`).
    settings: a checksum of everything that the lists depend on, so that a later run can tell whether they are its own.
    scores: the names of the scores beside the parser's that the lists have.
    """

    parser: str
    trained_on: frozenset[str]
    settings: str = ""
    scores: tuple[str, ...] = ()

    def write(self, lists: Path) -> None:
        """Write the origin beside a file with lists."""
        content = {"format": FORMAT} | asdict(self) | {"trained_on": sorted(self.trained_on)}
        write_bytes(origin_path(lists), srsly.json_dumps(content).encode("ascii"))

    @classmethod
    def read(cls, lists: Path) -> ListOrigin | None:
        """Return the origin of a file with lists, or None if there is none. Raises IncparseError if it is damaged."""
        path = origin_path(lists)
        if not path.exists():
            return None
        try:
            content = srsly.read_json(path)
            if content["format"] != FORMAT:
                raise ValueError(f"it has the format {content['format']!r}")
            trained_on, scores = frozenset(map(str, content["trained_on"])), tuple(content.get("scores", ()))
            return cls(str(content["parser"]), trained_on, str(content["settings"]), scores)
        except (ValueError, KeyError, TypeError) as error:
            raise IncparseError(f"{path} cannot be read ({error}): make the lists again") from None


def origin_path(lists: Path) -> Path:
    """Return the path of the file that says where the lists of a file come from."""
    return lists.with_name(lists.name + SUFFIX)


def sentence_key(words: Iterable[str]) -> str:
    """Return a short key of a sentence's words; that two sentences share one is as good as impossible."""
    return sha256("\n".join(words).encode("utf8", "surrogatepass")).hexdigest()[:12]
