"""Text in markup: whatever a word, a label or a title holds, it stays text."""

from __future__ import annotations

import re

from spacy_incparse.viz.text_width import visible

_REFERENCES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "`": "&#96;"})
_SAFE_VALUE = re.compile(r"[\w#%.,() '\"+-]*")


def escape(text: str) -> str:
    """Return text as it can stand in HTML, SVG and XML, between tags and in quoted attributes.

    Characters that XML does not allow are replaced by visible ones first.
    """
    return visible(text).translate(_REFERENCES)


def is_style_value(text: str) -> bool:
    """Return whether a colour or a font may stand in a style: nothing that ends the declaration or loads anything."""
    return bool(_SAFE_VALUE.fullmatch(text)) and "url" not in text.lower()
