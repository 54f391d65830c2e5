"""`adapt`: an encoder that reads texts, with a small one that really learns; needs PyTorch."""

import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.cli.adapt import _text_sentences
from spacy_incparse.cli.neural_train import neural_config
from spacy_incparse.corpora.records import Document
from spacy_incparse.pipeline.encoder_folder import encoder_sizes, read_safetensors
from spacy_incparse.treebanks.penn_reader import read_treebank
from tests.neural.tiny_encoder import CONFIG, N_LAYERS, needs_transformers, pieces, random_weights, write_safetensors
from tests.small_pipeline import ASSETS

pytestmark = needs_transformers
TRAIN = ASSETS / "sample-train.mrg"


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A small BERT that has a piece for what is hidden, and a layer that the parser does not use."""
    folder = tmp_path_factory.mktemp("maskable")
    known = [*pieces(), "[MASK]"]
    (folder / "config.json").write_text(json.dumps(CONFIG | {"vocab_size": len(known)}))
    (folder / "vocab.txt").write_text("\n".join(known) + "\n", encoding="utf8")
    weights = random_weights(len(known)) | {"pooler.dense.bias": np.arange(16, dtype="float32")}
    write_safetensors(folder / "model.safetensors", weights)
    return folder


def run(*arguments):
    result = CliRunner().invoke(app, ["adapt", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def weights_of(folder):
    return read_safetensors(folder / "model.safetensors")


def losses(output):
    return [float(line.split()[1]) for line in output.splitlines() if line.strip()[:1].isdigit() and "," not in line]


def transformer(folder, weights=None, n_extra=0):
    from curated_transformers.models.bert import BertConfig, BertEncoder
    from curated_transformers.models.curated_transformer import CuratedTransformer

    from spacy_incparse.pipeline.encoder_folder import read_weights, set_weights

    sizes = encoder_sizes(folder)
    sizes |= {"num_hidden_layers": sizes["num_hidden_layers"] + n_extra, "embedding_width": sizes["hidden_width"]}
    made = CuratedTransformer(BertEncoder(BertConfig(**sizes)))
    path, found = read_weights(folder)
    set_weights(made, path, weights or found)
    return made.eval()


def test_weights_find_their_way_back(encoder):
    from spacy_incparse.encoders.encoder_weights import published_weights
    from spacy_incparse.pipeline.encoder_folder import read_weights

    _, expected = read_weights(encoder)
    made = transformer(encoder)
    for parameter in made.parameters():
        parameter.data *= 2
    found = published_weights(made, expected)
    assert list(found) == list(expected)
    for name, tensor in expected.items():
        factor = 1 if name.startswith("pooler") else 2
        assert (found[name] == factor * tensor).all(), name


def test_a_written_file_is_read_again(encoder, tmp_path):
    from spacy_incparse.encoders.encoder_weights import safetensors
    from spacy_incparse.pipeline.encoder_folder import read_weights

    _, expected = read_weights(encoder)
    (tmp_path / "model.safetensors").write_bytes(safetensors(expected))
    found = weights_of(tmp_path)
    assert list(found) == list(expected)
    assert all((found[name] == tensor.numpy()).all() for name, tensor in expected.items())


def test_new_layers_only_normalize(encoder):
    import torch

    from spacy_incparse.encoders.encoder_weights import deeper
    from spacy_incparse.pipeline.encoder_folder import read_weights

    _, weights = read_weights(encoder)
    longer = deeper(weights, N_LAYERS, 2, seed=0)
    numbers = torch.tensor([[2, 7, 9, 3]])
    with torch.no_grad():
        before = transformer(encoder)(numbers).all_outputs
        after = transformer(encoder, longer, 2)(numbers).all_outputs
    assert len(after) == len(before) + 2
    assert all((a == b).all() for a, b in zip(before, after, strict=False))
    expected = torch.nn.functional.layer_norm(before[-1], before[-1].shape[-1:])
    for found in after[-2:]:
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-3)


def test_an_encoder_learns_to_guess_words(encoder, tmp_path):
    out = tmp_path / "out"
    result = run(encoder, TRAIN, out, "--passes", 12, "--learn-rate", 0.01)
    assert result.exit_code == 0, result.output
    found = losses(result.stdout)
    assert len(found) == 12
    assert found[0] > 0.9 * np.log(encoder_sizes(encoder)["vocab_size"])  # at first, it knows nothing
    assert found[-1] < found[0] - 1
    assert {path.name for path in out.iterdir()} == {"config.json", "vocab.txt", "model.safetensors"}
    before, after = weights_of(encoder), weights_of(out)
    assert (before.pop("pooler.dense.bias") == after.pop("pooler.dense.bias")).all()
    assert all((before[name] != after[name]).any() for name in before if "word_embeddings" in name or "layer" in name)


def test_a_parser_is_trained_on_an_encoder_with_more_layers(encoder, tmp_path):
    out = tmp_path / "deeper"
    assert run(encoder, TRAIN, out, "--passes", 1, "--extra-layers", 2).exit_code == 0
    assert encoder_sizes(out)["num_hidden_layers"] == N_LAYERS + 2
    assert neural_config(encoder=str(out))["components"]["transformer"]["model"]["num_hidden_layers"] == N_LAYERS + 2
    folder = tmp_path / "parser"
    words = [TRAIN, ASSETS / "sample-dev.mrg", folder, "--config", "neural", "--encoder", out, "--max-epochs", 1]
    result = CliRunner().invoke(app, ["train", *map(str, words)])
    assert result.exit_code == 0, result.output


def test_resumed_after_an_interruption(encoder, tmp_path, monkeypatch):
    """The same bytes as without one."""
    from spacy_incparse.encoders.adaptation import EncoderAdaptation

    arguments = [encoder, TRAIN, "--passes", 3, "--extra-layers", 1]
    assert run(*arguments[:2], tmp_path / "whole", *arguments[2:]).exit_code == 0
    learn = EncoderAdaptation.learn

    def interrupted(self, number, on_batch):
        if number == 3:
            raise KeyboardInterrupt
        return learn(self, number, on_batch)

    out = tmp_path / "resumed"
    with monkeypatch.context() as patch:
        patch.setattr(EncoderAdaptation, "learn", interrupted)
        assert (
            "finished passes are saved, --resume continues after them"
            in run(*arguments[:2], out, *arguments[2:]).stderr
        )
    result = run(*arguments[:2], out, *arguments[2:])
    assert "continue with --resume, or replace it with --force" in result.stderr
    result = run(*arguments[:2], out, "--passes", 4, "--resume")
    assert "belongs to an adaptation of another encoder, or with other texts or settings" in result.stderr
    other = tmp_path / "other encoder"
    shutil.copytree(encoder, other)
    write_safetensors(other / "model.safetensors", random_weights(len(pieces()) + 1, seed=1))
    result = run(other, TRAIN, out, *arguments[2:], "--resume")
    assert "belongs to an adaptation of another encoder, or with other texts or settings" in result.stderr
    assert losses(run(*arguments[:2], out, *arguments[2:], "--resume").stdout) != []
    for name in ("config.json", "model.safetensors"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_texts_without_trees(encoder, tmp_path):
    """Texts are cut into sentences, CoNLL-U has them; what cannot be read is left out, and said."""
    (tmp_path / "a.txt").write_text("The cat slept on the sofa. She thinks so.", encoding="utf8")
    (tmp_path / "b.lines").write_bytes(b"The letters are in the box.\n\xff\n\n")
    rows = [f"{i}\t{word}\t_\t_\t_\t_\t0\t_\t_\t_" for i, word in enumerate(["The", "cat", "slept"], start=1)]
    (tmp_path / "c.conllu").write_text("\n".join(rows) + "\n\n", encoding="utf8")
    files = [tmp_path / name for name in ("a.txt", "b.lines", "c.conllu")]
    result = run(encoder, *files, TRAIN, tmp_path / "out", "--passes", 1)
    assert result.exit_code == 0, result.output
    assert f"{len(read_treebank(TRAIN)) + 4:,} sentences of" in result.stdout
    assert "left out:" in result.stderr
    assert "b.lines:2" in result.stderr


def test_a_text_of_any_length():
    """Of more than the million characters, too, that spaCy's own components take by default."""
    text = "It rained. " * 100_000
    sentences = list(_text_sentences(iter([Document("a", "a", text)]), "en"))
    assert len(sentences) == 100_000
    assert sentences[-1] == ["It", "rained", "."]


def test_mistakes(encoder, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("Plums.", encoding="utf8")
    (tmp_path / "empty.lines").touch()
    unmaskable = tmp_path / "unmaskable"
    shutil.copytree(encoder, unmaskable)
    known = (encoder / "vocab.txt").read_text(encoding="utf8")
    (unmaskable / "vocab.txt").write_text(known.replace("[MASK]", "[HIDE]"), encoding="utf8")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "unfinished.pt").write_bytes(b"nothing")
    out = tmp_path / "out"
    for arguments, message in [
        ([encoder, TRAIN], "what to read or where to write is missing"),
        ([encoder, TRAIN, encoder], "is the encoder itself"),
        ([encoder, TRAIN, tmp_path / "mine"], "there is already something in"),
        ([encoder, TRAIN, tmp_path / "mine", "--force"], "is no encoder, so --force does not replace it"),
        ([encoder, TRAIN, out, "--resume"], "there is no adaptation to resume in"),
        ([encoder, TRAIN, out, "--resume", "--force"], "exclude each other"),
        ([encoder, TRAIN, tmp_path / "damaged", "--resume"], "is damaged"),
        ([encoder, tmp_path / "empty.lines", out], "there are no sentences to read"),
        ([encoder, TRAIN, out, "--learn-rate", 2], "learn_rate is 2"),
        ([encoder, TRAIN, out, "--input-format", "pdf"], "no input format is called 'pdf'"),
        ([tmp_path / "mine", TRAIN, out], "an encoder's folder has a file config.json"),
        ([unmaskable, TRAIN, out], "the encoder has no piece [MASK]"),
    ]:
        result = run(*arguments)
        assert result.exit_code == 1, result.output
        assert message in result.stderr
    assert not out.exists()
