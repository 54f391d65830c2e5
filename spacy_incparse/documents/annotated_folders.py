"""Recognise the folders that `annotate` writes: one of them is a corpus even if there is no sentence in it."""

from __future__ import annotations

from pathlib import Path

import srsly

MANIFEST = "manifest.json"


def annotated_format(folder: str | Path) -> str | None:
    """Return the output format that the manifest of an annotated corpus names; None if the folder is none."""
    try:
        manifest = srsly.read_json(Path(folder) / MANIFEST)
    except (OSError, ValueError):
        return None
    return manifest.get("output_format") if isinstance(manifest, dict) else None
