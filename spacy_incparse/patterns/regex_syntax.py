"""Python's own parser of regular expressions, imported from its location in each Python version."""

from __future__ import annotations

import re
import sys
from typing import Any

if sys.version_info >= (3, 11):
    from re import _compiler as compiler  # type: ignore[attr-defined]
    from re import _constants as op  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
else:
    import sre_compile as compiler
    import sre_constants as op
    import sre_parse as parser

__all__ = ["Item", "compiled_item", "op", "parsed"]

Item = tuple[Any, Any]  # an item of a regular expression: its kind, one of `op`, and its parts


def parsed(text: str, flags: int) -> Any:
    """Return the items of a regular expression. Raises re.error as `re.compile` does."""
    return parser.parse(text, flags)


def compiled_item(expression: Any, item: Item) -> re.Pattern[str]:
    """Return one item of a parsed expression as a separate expression with the same flags."""
    return compiler.compile(parser.SubPattern(expression.state, [item]), expression.state.flags)
