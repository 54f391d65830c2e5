"""What a finished pass of an adaptation leaves on disk, so that an interrupted one can go on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from spacy_incparse.encoders.adaptation import EncoderAdaptation
from spacy_incparse.encoders.masked_words import PieceSentence
from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.files import write_file

STATE = "unfinished.pt"  # in the folder of the new encoder


def checksum(adaptation: EncoderAdaptation, sentences: Sequence[PieceSentence]) -> str:
    """Return a checksum of encoder, settings and sentences: only with the same ones, an adaptation goes on.

    It must not have learned anything yet.
    """
    digest = hashlib.sha256(repr(sorted(asdict(adaptation.settings).items())).encode())
    for name, weights in sorted(adaptation.transformer.state_dict().items()):
        digest.update(name.encode() + weights.numpy().tobytes())
    for sentence in sentences:
        digest.update(sentence.pieces.astype("<i8").tobytes() + b"|" + sentence.words.astype("<i8").tobytes())
    return digest.hexdigest()


class AdaptationState:
    """The state of one run, in the folder of the new encoder."""

    def __init__(self, folder: Path, expected: str):
        self.path, self._expected = folder / STATE, expected

    def save(self, adaptation: EncoderAdaptation, n_passes: int) -> None:
        """Save what the next pass needs. An interrupted save leaves the state before it."""
        import torch

        content = {"checksum": self._expected, "passes": n_passes, "state": adaptation.state()}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_file(self.path, lambda unfinished: torch.save(content, unfinished))

    def restore(self, adaptation: EncoderAdaptation) -> int:
        """Set the adaptation to the last finished pass, and return its number.

        Raises IncparseError if there is none or it is of another encoder, sentences or settings, and ModelError if it
        is damaged.
        """
        if not self.path.exists():
            raise IncparseError(f"there is no adaptation to resume in {self.path.parent}: start without --resume")
        content = self._read()
        if content["checksum"] != self._expected:
            raise IncparseError(
                f"{self.path} belongs to an adaptation of another encoder, or with other texts or settings: resume "
                f"with the same ones, or start anew with --force"
            )
        adaptation.restore(content["state"])
        return int(content["passes"])

    def _read(self) -> dict[str, Any]:
        import torch

        try:
            content: dict[str, Any] = torch.load(self.path, map_location="cpu", weights_only=True)
            return {name: content[name] for name in ("checksum", "passes", "state")}
        except Exception as error:  # what reading a damaged file raises depends on its bytes
            raise ModelError(f"{self.path} is damaged ({type(error).__name__}): start anew with --force") from error

    def forget(self) -> None:
        """Remove the state, which a finished adaptation does not need."""
        self.path.unlink(missing_ok=True)
