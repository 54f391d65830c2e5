"""Write the metadata of a pipeline for `spacy package --meta-path`, with the licence and description of its package.

python benchmarks/package_meta.py PIPELINE OUT.json --license LICENSE --description TEXT
"""

from __future__ import annotations

import argparse
from pathlib import Path

import srsly


def main() -> None:
    """Write the file."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("pipeline", type=Path, help="folder of the pipeline")
    arguments.add_argument("output", type=Path, help="file for the metadata")
    arguments.add_argument("--license", required=True, help="licence of the package, which the treebank allows")
    arguments.add_argument("--description", required=True, help="what the pipeline is")
    given = arguments.parse_args()
    given.output.parent.mkdir(parents=True, exist_ok=True)
    own = {"license": given.license, "description": given.description}
    srsly.write_json(given.output, dict(srsly.read_json(given.pipeline / "meta.json")) | own)


if __name__ == "__main__":
    main()
