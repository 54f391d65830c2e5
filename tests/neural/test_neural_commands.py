from unittest.mock import Mock

import pytest
from thinc.api import Config, prefer_gpu
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.cli.train_neural import _use_gpu
from spacy_incparse.errors import IncparseError
from tests.small_pipeline import ASSETS


def test_a_gpu_that_is_not_there_is_an_error_in_a_line(tmp_path):
    if prefer_gpu():
        pytest.skip("there is a GPU")
    trees = [str(ASSETS / f"sample-{part}.mrg") for part in ("train", "dev")]
    result = CliRunner().invoke(app, ["train", *trees, str(tmp_path / "out"), "--config", "neural", "--gpu", "0"])
    assert result.exit_code == 1
    assert "--gpu 0: " in result.stderr
    assert "pip install" in result.stderr


def test_trees_without_phrases_are_an_error_in_a_line(tmp_path):
    trees = tmp_path / "words.mrg"
    trees.write_text("(TOP (NN cat))\n", encoding="utf8")
    result = CliRunner().invoke(app, ["train", str(trees), str(trees), str(tmp_path / "out"), "--config", "neural"])
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "found no phrases to learn" in result.stderr
    assert result.stderr.endswith("train on a treebank with phrases, such as (TOP (NP (NN cat)))\n")


def test_a_reranker_needs_a_parser_that_can_be_trained_again(model, tmp_path):
    paths = [ASSETS / "sample-train.mrg", ASSETS / "sample-dev.mrg", tmp_path / "out"]
    result = CliRunner().invoke(app, ["rerank-train", str(model), *map(str, paths)])
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "can only do so for an 'incparse'" in result.stderr


def test_both_libraries_of_a_transformer_share_the_memory_of_a_gpu(monkeypatch):
    """Whatever CuPy says, or PyTorch where it knows no CUDA, is one line."""
    chosen = []
    monkeypatch.setattr("thinc.api.set_gpu_allocator", chosen.append)
    monkeypatch.setattr("spacy.cli._util.require_gpu", chosen.append)
    for components, gpu, expected in (
        ({}, 1, [1]),
        ({"transformer": {}}, -1, []),
        ({"transformer": {}}, 0, [0, "pytorch"]),
    ):
        chosen.clear()
        config = Config({"components": components, "system": {"gpu_allocator": None}})
        _use_gpu(gpu, config)
        assert chosen == expected
        assert config["system"]["gpu_allocator"] == ("pytorch" if "pytorch" in expected else None)
    for place in ("thinc.api.set_gpu_allocator", "spacy.cli._util.require_gpu"):
        monkeypatch.setattr(place, Mock(side_effect=AssertionError("Torch not compiled with CUDA enabled")))
        with pytest.raises(IncparseError, match=r"--gpu 0: Torch not compiled with CUDA enabled\. A GPU needs CUDA"):
            _use_gpu(0, config)


def test_a_network_that_has_found_no_phrase_is_told(tmp_path):
    arguments = ["train", str(ASSETS / "sample-train.mrg"), str(ASSETS / "sample-dev.mrg"), str(tmp_path / "out")]
    result = CliRunner().invoke(app, [*arguments, "--config", "neural", "--max-epochs", "1"])
    assert "0.00" in result.stdout
    assert "no pass has found a phrase" in result.stderr
