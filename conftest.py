"""The code in README.md, docs/ and examples/README.md is tested like the rest: `tests/code_blocks.py` says how."""

from tests.code_blocks import SYBIL

pytest_collect_file = SYBIL.pytest()
