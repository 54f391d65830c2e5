"""Progress bars and counters on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm


def progress_bar(*, is_shown: bool = True, **settings: Any) -> tqdm:
    """Return a bar on standard error that disappears when it is closed; it is only shown on a terminal."""
    from tqdm import tqdm

    return tqdm(file=sys.stderr, leave=False, disable=not (is_shown and sys.stderr.isatty()), **settings)
