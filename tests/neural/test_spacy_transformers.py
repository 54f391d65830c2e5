"""A transformer of spacy-transformers under the parser, with the settings that docs/neural.md shows."""

import re
from pathlib import Path

import pytest
import spacy
from spacy.util import fix_random_seed
from thinc.api import Config

from tests.neural.conftest import examples

pytest.importorskip("spacy_transformers", reason="needs pip install spacy-transformers (PyTorch)")

PAGE = Path(__file__).parents[2] / "docs" / "neural.md"
NAME = '"minilm"'  # the folder in the documentation


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small BERT with random weights and a tokenizer that knows the words of the sample treebank."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("encoder")
    words = {token.lower_ for example in examples(spacy.blank("en"), limit=60) for token in example.reference}
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(words)]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf8")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    BertModel(BertConfig(vocab_size=len(pieces), **sizes)).save_pretrained(folder)
    return folder


def untrained(folder):
    (block,) = re.findall(r"```ini\n([^`]*spacy-transformers\.TransformerModel[^`]*)```", PAGE.read_text("utf8"))
    assert block.count(NAME) == 1
    text = "[components]\n\n" + block.replace(NAME, f'"{folder}"')
    components = Config().from_str(text)["components"]
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    for name, settings in components.items():
        nlp.add_pipe(settings.pop("factory"), name=name, config=settings)
    return nlp


def test_the_parser_learns_on_a_listener_of_spacy_transformers(folder, tmp_path):
    """The gradient reaches the transformer; the saved pipeline gives the same trees; a Doc may exceed its window."""
    nlp = untrained(folder)
    found = examples(nlp, limit=20)
    fix_random_seed(0)
    optimizer = nlp.initialize(lambda: found)
    optimizer.learn_rate = 0.005
    encoder = nlp.get_pipe("transformer").model
    before = encoder.predict([found[0].x]).model_output.last_hidden_state.clone()
    losses = [nlp.update(found, sgd=optimizer, losses={}) for _ in range(6)]
    assert losses[0]["transformer"] > 0
    assert losses[-1]["incparse_neural"] < 0.8 * losses[0]["incparse_neural"]
    after = encoder.predict([found[0].x]).model_output.last_hidden_state
    assert float((after - before).abs().max()) > 0.01
    expected = str(nlp("The rain stopped.")._.trees[0])
    nlp.to_disk(tmp_path / "saved")
    loaded = spacy.load(tmp_path / "saved")
    assert str(loaded("The rain stopped.")._.trees[0]) == expected
    doc = loaded(" ".join(["The rain stopped before noon ."] * 40))
    assert sum(len(tree.words) for tree in doc._.trees) == len(doc)
