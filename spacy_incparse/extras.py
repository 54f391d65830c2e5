"""Optional libraries, imported where they are needed; each belongs to an extra of the package."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from spacy_incparse.errors import IncparseError

INSTALL_TRANSFORMERS = 'pip install "spacy-incparse[transformers]"'


def has_transformers() -> bool:
    """Return whether the packages that an encoder needs are installed, without importing them."""
    return find_spec("spacy_curated_transformers") is not None


def parquet_module() -> Any:
    """Return pyarrow.parquet. Raises IncparseError, saying what to install, if it is missing."""
    return optional_module("pyarrow.parquet", "parquet", "Parquet files need pyarrow")


def optional_module(name: str, extra: str, why: str) -> Any:
    """Return a module. Raises IncparseError with `why`, saying what to install, if it is missing."""
    try:
        return import_module(name)
    except ImportError:
        raise IncparseError(f'{why}, which is not installed: pip install "spacy-incparse[{extra}]"') from None
