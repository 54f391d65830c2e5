import importlib
import json
import os
import re
import runpy
import sys
from pathlib import Path

import pytest

from spacy_incparse.parsing.parser import ParserKind

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest brings it

CHECKOUT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf8"))
PROJECT = SETTINGS["project"]
EMBEDDED = CHECKOUT / "spacy_incparse" / "data"
CHECKS = runpy.run_path(str(CHECKOUT / ".ci" / "check_packages.py"))  # of the wheel


def entry_points():
    groups = {"console_scripts": PROJECT["scripts"], **PROJECT["entry-points"]}
    return [(group, name, target) for group, points in groups.items() for name, target in points.items()]


@pytest.mark.parametrize(("group", "name", "target"), entry_points())
def test_entry_points_lead_somewhere(group, name, target):
    module, _, attribute = target.partition(":")
    loaded = importlib.import_module(module)
    assert not attribute or callable(getattr(loaded, attribute)) or isinstance(getattr(loaded, attribute), ParserKind)


def test_a_wheel_that_is_too_large_is_refused(tmp_path):
    check = CHECKS["check_size"]
    wheel = tmp_path / "a.whl"
    wheel.touch()
    os.truncate(wheel, 60 * 10**6)
    check(str(wheel))
    os.truncate(wheel, 60 * 10**6 + 1)
    with pytest.raises(SystemExit, match=r"a\.whl takes 60,000,001 bytes, more than 60,000,000"):
        check(str(wheel))


def test_changes_to_the_neural_parser_run_its_tests_with_pytorch():
    text = (CHECKOUT / ".github" / "workflows" / "transformers.yml").read_text(encoding="utf8")
    patterns = re.findall(r'^      - "(.+)"$', text, re.MULTILINE)
    found = {path for pattern in patterns for path in CHECKOUT.glob(pattern.replace("/**", "/**/*"))}
    assert CHECKOUT / "pyproject.toml" in found
    package = CHECKOUT / "spacy_incparse"
    neural = [path for path in package.rglob("*.py") if "\nfrom thinc" in path.read_text(encoding="utf8")]
    neural += [*package.glob("cli/neural*"), *package.glob("neural/*.py*"), *CHECKOUT.glob("tests/neural/*.py")]
    assert set(neural) <= found


def test_licence_files_exist():
    for name in PROJECT["license-files"]:
        assert (CHECKOUT / name).read_text(encoding="utf8").strip()


@pytest.mark.parametrize(("name", "most"), CHECKS["MAX_MODEL_BYTES"].items())
def test_embedded_pipelines_are_small_and_state_their_licence(name, most):
    folder = EMBEDDED / name
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) <= most
    meta = json.loads((folder / "meta.json").read_text(encoding="utf8"))
    assert meta["license"] in (folder / "README.md").read_text(encoding="utf8")
    assert re.sub(r"[ -]", "", meta["license"]).startswith("CCBYSA4.0")
    assert "GUM" in json.dumps(meta)


def test_no_compiled_module_has_lost_its_source():
    for path in (CHECKOUT / "spacy_incparse").rglob("*.so"):
        if path.name.startswith("_cyutility."):  # Cython writes it, see setup.py
            continue
        assert path.with_name(path.name.split(".")[0] + ".pyx").exists(), f"{path} is left over: delete it"
