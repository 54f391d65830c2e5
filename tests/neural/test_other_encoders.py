"""An encoder that is no BERT: a tiny RoBERTa with random weights, in the config for transformers."""

import json

import pytest
import spacy
from spacy.training.initialize import init_nlp
from spacy.util import load_config

from tests.neural.conftest import examples
from tests.neural.tiny_encoder import needs_transformers

pytestmark = [needs_transformers, pytest.mark.slow]
WIDTH, MAX_PIECES = 16, 64
CHARACTERS = [chr(code) for code in range(33, 127)]


def write_pieces(folder):
    """Byte pairs without merges: each character is a piece; Ġ stands for a space."""
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "Ġ", *CHARACTERS]
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}), encoding="utf8")
    (folder / "merges.txt").write_text("#version: 0.2\n", encoding="utf8")
    return len(pieces)


def roberta_config(folder):
    """The shipped config with another architecture, piece encoder and loader, as docs/neural.md says."""
    config = load_config("configs/neural_transformer.cfg")
    config["paths"] |= {"train": "assets/sample-train.mrg", "dev": "assets/sample-dev.mrg", "encoder": str(folder)}
    config["corpora"]["train"]["limit"] = config["corpora"]["dev"]["limit"] = 20
    config["components"]["transformer"]["model"] |= {
        "@architectures": "spacy-curated-transformers.RobertaTransformer.v1",
        "vocab_size": write_pieces(folder),
        "hidden_width": WIDTH,
        "intermediate_width": 32,
        "num_attention_heads": 2,
        "num_hidden_layers": 2,
        "padding_idx": 1,
        "type_vocab_size": 1,
        "max_position_embeddings": MAX_PIECES,
        "model_max_length": MAX_PIECES - 2,
        "piece_encoder": {
            "@architectures": "spacy_incparse.SentencePieces.v1",
            "pieces": {"@architectures": "spacy-curated-transformers.ByteBpeEncoder.v1"},
        },
    }
    config["components"]["transformer"]["model"]["with_spans"] |= {"window": 48, "stride": 36}
    config["components"]["incparse_neural"]["model"]["tok2vec"]["width"] = WIDTH
    config["initialize"]["components"]["transformer"] = {
        "encoder_loader": None,  # the weights stay random
        "piecer_loader": {
            "@model_loaders": "spacy-curated-transformers.ByteBpeLoader.v1",
            "vocab_path": str(folder / "vocab.json"),
            "merges_path": str(folder / "merges.txt"),
        },
    }
    return config


def test_a_roberta_and_trees_learn_together(tmp_path):
    nlp = init_nlp(roberta_config(tmp_path))
    found = examples(nlp, limit=20)
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.002
    losses = [nlp.update(found, sgd=optimizer, losses={}) for _ in range(6)]
    assert losses[-1]["incparse_neural"] < 0.8 * losses[0]["incparse_neural"]
    expected = str(nlp("The rain stopped.")._.trees[0])
    nlp.to_disk(tmp_path / "saved")
    assert str(spacy.load(tmp_path / "saved")("The rain stopped.")._.trees[0]) == expected
