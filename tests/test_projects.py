"""The workflows under projects/: one template, filled in for each language; it runs on any treebank."""

import subprocess
import sys
from pathlib import Path

import pytest
import srsly

ROOT = Path(__file__).parents[1]
PROJECTS = sorted((ROOT / "projects").glob("*/project.yml"))
SAMPLE = ROOT / "assets" / "sample-dev.mrg"


def test_without_a_dev_part_every_nth_tree_is_dev(tmp_path):
    command = [sys.executable, ROOT / "projects" / "prepare.py", SAMPLE, tmp_path, "--every", "5"]
    subprocess.run(command, check=True, capture_output=True)
    train, dev = ((tmp_path / f"{name}.mrg").read_text(encoding="utf8").splitlines() for name in ("train", "dev"))
    assert (len(train), len(dev)) == (40, 10)


def test_without_a_dev_part_every_nth_file_is_dev(tmp_path):
    for number in range(4):
        (tmp_path / f"{number}.mrg").write_text(f"(NP (CD {number}))\n" * (number + 1), encoding="utf8")
    command = [sys.executable, ROOT / "projects" / "prepare.py", tmp_path, tmp_path / "out", "--every", "2"]
    subprocess.run(command, check=True, capture_output=True)
    found = (tmp_path / "out" / "dev.mrg").read_text(encoding="utf8").split("\n")
    assert [line.count("1") + 10 * line.count("3") for line in found] == [1, 1, 10, 10, 10, 10, 0]


@pytest.mark.slow
def test_a_project_makes_a_package(tmp_path):
    for name in ("prepare.py", "spanish"):
        target = tmp_path / "projects" / name
        target.parent.mkdir(exist_ok=True)
        target.symlink_to(ROOT / "projects" / name) if name.endswith(".py") else target.mkdir()
    (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
    folder = tmp_path / "projects" / "spanish"
    (folder / "project.yml").write_bytes((ROOT / "projects" / "spanish" / "project.yml").read_bytes())
    changed = ["--vars.treebank", str(SAMPLE), "--vars.max_epochs", "1"]
    subprocess.run([sys.executable, "-m", "spacy", "project", "run", "all", folder, *changed], check=True)
    meta = srsly.read_json(folder / "packages" / "es_cess-0.1.0" / "meta.json")
    assert meta["license"].startswith("not stated")
    assert srsly.read_json(folder / "metrics" / "scores.json")["const_f"] > 0.3
