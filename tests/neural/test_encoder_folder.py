import io
import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.cli.train_neural import neural_config
from spacy_incparse.errors import ConfigError, ModelError
from spacy_incparse.neural.encoder import (
    create_encoder_loader,
    create_wordpiece_loader,
    encoder_sizes,
    read_safetensors,
)
from tests.neural.tiny_encoder import HAS_TRANSFORMERS, needs_transformers, pieces, random_weights
from tests.small_pipeline import ASSETS


def test_arrays_are_read_as_they_were_written(encoder_folder):
    expected = random_weights(len(pieces()))
    found = read_safetensors(encoder_folder / "model.safetensors")
    assert found.keys() == expected.keys()
    assert all((found[name] == expected[name]).all() for name in expected)


def test_what_is_no_encoder_is_reported(tmp_path):
    with pytest.raises(ModelError, match=r"has a file config\.json"):
        create_encoder_loader(tmp_path)
    with pytest.raises(ModelError, match="the encoder has no path"):
        create_wordpiece_loader(None)
    for content, message in (
        ('{"model_type": "t5"}', "the encoder's type is 't5'"),
        ('{"model_type": "bert"}', "the setting 'hidden_size' is missing"),
        ("{", "not valid JSON"),
        ("[]", r"config\.json: expected a JSON object with settings, but this is \[\]"),
    ):
        (tmp_path / "config.json").write_text(content)
        with pytest.raises(ModelError, match=message):
            encoder_sizes(tmp_path)
    for header in (b"abcde", b"[]", b"\xff"):
        (tmp_path / "x.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
        with pytest.raises(ModelError, match="cannot be read"):
            read_safetensors(tmp_path / "x.safetensors")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"hidden_size": "x"}, "hidden_size is 'x': it must be a whole number"),
        ({"hidden_size": 15}, "hidden_size is 15: it must be a multiple of num_attention_heads, 2"),
        ({"num_attention_heads": 0}, "num_attention_heads is 0: it must be at least 1"),
        ({"pad_token_id": 5000}, "pad_token_id is 5000: it must be at most "),
        ({"hidden_dropout_prob": 1.5}, "hidden_dropout_prob is 1.5: it must be a number from 0 to 1"),
        ({"hidden_act": "swish"}, "hidden_act is 'swish': it must be one of relu, gelu, gelu_new"),
    ],
)
def test_sizes_that_no_encoder_has_are_reported(encoder_folder, tmp_path, changed, message):
    config = json.loads((encoder_folder / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | changed))
    with pytest.raises(ModelError, match=re.escape(f"{tmp_path / 'config.json'}: {message}")):
        encoder_sizes(tmp_path)


@pytest.mark.skipif(HAS_TRANSFORMERS, reason="the extra is installed")
def test_without_the_extra_an_encoder_is_refused(encoder_folder):
    with pytest.raises(ConfigError, match=r"spacy-incparse\[transformers\]"):
        neural_config(encoder=str(encoder_folder))


@needs_transformers
def test_weights_of_the_convolutional_layer_do_not_go_with_an_encoder(encoder_folder, tmp_path):
    with pytest.raises(ConfigError, match="does not go with --encoder"):
        neural_config(encoder=str(encoder_folder), init_tok2vec=tmp_path / "model-last.bin")


def without(name):
    """Write a tokenizer.json that lacks a piece, but no number."""
    kept = [piece for piece in pieces() if piece != name]
    return {"tokenizer.json": json.dumps({"model": {"vocab": {piece: k for k, piece in enumerate(kept)}}})}


@needs_transformers
@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"tokenizer_config.json": "[]"}, "tokenizer_config.json: expected a JSON object with settings"),
        ({"tokenizer_config.json": '{"do_lower_case": 1.5}'}, "tokenizer_config.json: do_lower_case is 1.5: it must"),
        ({"tokenizer_config.json": '{"cls_token": []}'}, "vocab.txt: there is no piece []: add it, or name another"),
        (without("[CLS]"), "tokenizer.json: there is no piece '[CLS]': add it, or name another one as cls_token in"),
        (without("[UNK]"), "tokenizer.json: there is no piece '[UNK]': add it, or name another one as unk_token in"),
        ({"tokenizer.json": '{"model": {"vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 3}}}'}, "the numbers 0, 1, 2"),
        ({"tokenizer.json": '{"model": {"vocab": []}}'}, "tokenizer.json: these are not the pieces of a BERT model"),
        (
            {"vocab.txt": "\n".join(map(str, range(999))) + "\n[UNK]\n[CLS]\n[SEP]\n"},
            "vocab.txt: there are 1002 pieces",
        ),
        ({"vocab.txt": b"\xff"}, "vocab.txt: this is not UTF-8"),
    ],
)
def test_what_is_wrong_in_the_files_of_pieces(encoder_folder, tmp_path, files, message):
    from spacy_curated_transformers.tokenization.wordpiece_encoder import build_bert_wordpiece_encoder_v1

    shutil.copytree(encoder_folder, tmp_path, dirs_exist_ok=True)
    for name, content in files.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ModelError, match=re.escape(message)):
        create_wordpiece_loader(tmp_path)(build_bert_wordpiece_encoder_v1())


def train_on(encoder, folder):
    trees = str(ASSETS / "sample-dev.mrg")
    words = ["train", trees, trees, str(folder / "out"), "--config", "neural", "--encoder", str(encoder)]
    return CliRunner().invoke(app, words)


@needs_transformers
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"hidden_size": 100}, "embeddings.word_embeddings.weight is (316, 16), and should be (316, 100)"),
        ({"num_hidden_layers": 1}, "layers.1.mha.input.weight is (48, 16), and should be absent"),
    ],
)
def test_weights_that_do_not_fit_the_sizes(encoder_folder, tmp_path, changed, message):
    folder = shutil.copytree(encoder_folder, tmp_path / "encoder")
    (folder / "config.json").write_text(json.dumps(json.loads((folder / "config.json").read_text()) | changed))
    result = train_on(folder, tmp_path)
    place = f"{folder / 'model.safetensors'}: the weights do not fit the encoder's sizes in config.json: "
    assert (result.exit_code, result.stderr) == (1, f"Error: {place}curated_encoder.{message}\n")


def torch_bytes(content):
    import torch

    file = io.BytesIO()
    torch.save(content, file)
    return file.getvalue()


@needs_transformers
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda: b"", "the file cannot be read (EOFError)"),
        (lambda: torch_bytes({"a": Path("x")}), "the file cannot be read (UnpicklingError)"),
        (lambda: torch_bytes([1]), "these are no weights: the file must have tensors, each under its name"),
        (lambda: torch_bytes({}), "these are not the weights of such an encoder: KeyError("),
    ],
    ids=["empty", "object", "list", "nothing"],
)
def test_a_file_of_pytorch_without_weights(encoder_folder, tmp_path, content, message):
    folder = shutil.copytree(encoder_folder, tmp_path / "encoder")
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(content())
    result = train_on(folder, tmp_path)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {folder / 'pytorch_model.bin'}: {message}")
    assert result.stderr.count("\n") == 1


@needs_transformers
def test_special_pieces_may_be_objects_with_their_content(encoder_folder, tmp_path):
    from spacy_curated_transformers.tokenization.wordpiece_encoder import build_bert_wordpiece_encoder_v1

    shutil.copytree(encoder_folder, tmp_path, dirs_exist_ok=True)
    token = {"__type": "AddedToken", "content": "rain", "special": True}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"cls_token": token}), encoding="utf8")
    model = create_wordpiece_loader(tmp_path)(build_bert_wordpiece_encoder_v1())
    assert (model.attrs["bos_piece"], model.attrs["eos_piece"]) == ("rain", "[SEP]")
