"""Escaping text in markup, so that words, labels and titles are always shown as text."""

from __future__ import annotations

import re

from spacy_incparse.viz.text_width import visible

_REFERENCES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "`": "&#96;"})
_SAFE_VALUE = re.compile(r"[\w#%.,() '\"+-]*")


def escape(text: str) -> str:
    """Return text escaped for HTML, SVG and XML, between tags and in quoted attributes.

    Characters that XML does not allow are first replaced by visible ones.
    """
    return visible(text).translate(_REFERENCES)


def is_style_value(text: str) -> bool:
    """Return whether a color or font is safe in a style: it must not end the declaration or load anything."""
    return bool(_SAFE_VALUE.fullmatch(text)) and "url" not in text.lower()
