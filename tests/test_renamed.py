"""Code that was written for version 0.1: the names that it imports, and those that its configs have."""

import importlib
import json
import subprocess
import sys
import warnings
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from spacy_incparse import renamed

# The public names of each module of version 0.1, those of the commands left out.
NAMES = json.loads((Path(__file__).parent / "data" / "names-0.1.json").read_text(encoding="utf8"))
REGISTERED = {
    "spacy_factories": ["incparse", "incparse_tagger", "incparse_phrases", "incparse_reranker"],
    "spacy_readers": ["spacy_incparse.TreebankReader.v1"],
    "spacy_batchers": ["spacy_incparse.batch_by_pass.v1"],
    "spacy_callbacks": ["spacy_incparse.calibrate.v1"],
    "spacy_scorers": ["spacy_incparse.const_scorer.v1"],
    "spacy_cli": ["incparse"],
}


def forget(module):
    """Let the next import of an old module be the first one."""
    for name in [name for name in sys.modules if name == module or name.startswith(f"{module}.")]:
        del sys.modules[name]


@pytest.mark.parametrize("module", sorted(NAMES))
def test_all_names_are_there(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        found = importlib.import_module(f"spacy_incparse.{module}")
        assert [name for name in NAMES[module].split() if not hasattr(found, name)] == []


@pytest.mark.parametrize("old", sorted(renamed.MODULES))
def test_old_modules_are_the_new_ones_with_one_warning(old):
    assert importlib.util.find_spec(f"spacy_incparse.{renamed.MODULES[old]}").origin
    if any(name.startswith(f"{old}.") for name in renamed.NAMES):
        return  # warns of each name
    forget(f"spacy_incparse.{old}")
    with pytest.warns(DeprecationWarning, match=" is now ") as caught:
        found = importlib.import_module(f"spacy_incparse.{old}")
    assert [str(one.message) for one in caught] == [
        f"spacy_incparse.{old} is now spacy_incparse.{renamed.MODULES[old]}"
    ]
    assert found is importlib.import_module(f"spacy_incparse.{renamed.MODULES[old]}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importlib.import_module(f"spacy_incparse.{old}")


@pytest.mark.parametrize("old", sorted(renamed.NAMES))
def test_old_names_are_the_new_ones_with_one_warning(old):
    module, _, name = old.rpartition(".")
    place, _, now = renamed.NAMES[old].rpartition(".")
    with pytest.warns(DeprecationWarning, match=" is now ") as caught:
        found = getattr(importlib.import_module(f"spacy_incparse.{module}"), name)
    assert [str(one.message) for one in caught] == [f"spacy_incparse.{old} is now spacy_incparse.{renamed.NAMES[old]}"]
    assert found is getattr(importlib.import_module(f"spacy_incparse.{place}"), now)


def test_the_warning_points_to_the_import(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "from spacy_incparse.trees.reader import read_trees\n\n"
        "from spacy_incparse.pipeline.parses import Confidence, doc_parses\n"
        "from spacy_incparse.trees.reader import SkipLog\n",
        encoding="utf8",
    )
    command = [sys.executable, "-W", "always", program]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    shown = [line.split(": DeprecationWarning: ") for line in result.stderr.splitlines() if "Deprecation" in line]
    assert [place for place, _ in shown] == [f"{program}:1", f"{program}:3", f"{program}:3"]
    assert shown[0][1] == "spacy_incparse.trees.reader is now spacy_incparse.treebanks.reader"


def test_modules_of_dissolved_packages():
    forget("spacy_incparse.grammar")
    with pytest.warns(DeprecationWarning, match=r"is now spacy_incparse\.derivations\.chains"):
        import spacy_incparse.grammar.chains
    assert spacy_incparse.grammar.chains.__name__ == "spacy_incparse.incremental.grammar"


@pytest.mark.parametrize("name", ["trees.readers", "search.nothing", "pipeline.parses.nothing", "nothing"])
def test_what_never_was_is_not_there(name):
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"spacy_incparse.{name}")


def test_a_name_that_never_was():
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from spacy_incparse.pipeline.parses import nothing  # noqa: F401


@pytest.mark.parametrize("group", sorted(REGISTERED))
def test_all_that_was_registered_is_there(group):
    points = {point.name: point for point in entry_points(group=group)}
    for name in REGISTERED[group]:
        assert points[name].value.startswith("spacy_incparse.")
        assert points[name].load()
