import pickle

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.pipeline.registered import TreebankReader
from tests.small_pipeline import ASSETS, pipeline, train


@pytest.fixture(scope="module")
def nlp():
    nlp = pipeline("incparse_tagger", training={"n_epochs": 5})
    train(nlp, 0)
    return nlp


def tags(doc):
    return [token.tag_ for token in doc]


def test_it_tags(nlp):
    assert tags(nlp("The rain stopped."))[:2] == ["DT", "NN"]
    assert set(tags(nlp("She grows beans."))) <= set(nlp.get_pipe("incparse_tagger").labels)
    examples = list(TreebankReader(ASSETS / "sample-train.mrg", limit=50)(nlp))
    assert nlp.evaluate(examples)["tag_acc"] > 0.95


def test_whitespace_and_empty_docs(nlp):
    doc = nlp("The  rain \n stopped.")
    assert [token.tag_ == "" for token in doc] == [token.is_space for token in doc]
    assert [tags(doc) for doc in nlp.pipe(["", " "])] == [[], [""]]


def test_k_best(nlp):
    doc = nlp("The rain stopped. Owls sleep.")
    lists = nlp.get_pipe("incparse_tagger").k_best(doc, 3)
    assert [len(sentence) for sentence in lists] == [4, 3]
    for sentence in lists:
        assert all(1 <= len(word) <= 3 for word in sentence)
    assert [[word[0][0] for word in sentence] for sentence in lists] == [tags(doc)[:4], tags(doc)[4:]]


def test_it_is_saved_and_loaded(nlp, tmp_path):
    text = "The old bridge was repaired by volunteers."
    nlp.to_disk(tmp_path)
    assert tags(spacy.load(tmp_path)(text)) == tags(nlp(text))
    component = pickle.loads(pickle.dumps(nlp.get_pipe("incparse_tagger")))
    assert component.labels == nlp.get_pipe("incparse_tagger").labels
    blank = spacy.blank("en")
    blank.add_pipe("incparse_tagger")
    assert tags(blank.from_bytes(nlp.to_bytes())(text)) == tags(nlp(text))


def test_it_takes_the_tagger_of_a_parser(trained, tmp_path):
    trained.to_disk(tmp_path)
    nlp = pipeline("incparse_tagger", model=str(tmp_path))
    doc = nlp("The rain stopped.")
    assert tuple(tags(doc)) == trained("The rain stopped.")._.trees[0].tags


def test_a_pipeline_whose_parser_finds_the_tags_has_no_tagger():
    with pytest.raises(ModelError, match="'en_generative' has no tagger, because its parser finds the tags"):
        spacy.blank("en").add_pipe("incparse_tagger", config={"model": "en_generative"})


def test_a_parser_uses_its_tags(trained, nlp, tmp_path):
    trained.to_disk(tmp_path)
    both = spacy.blank("en")
    both.add_pipe("sentencizer")
    both.add_pipe("incparse_tagger", source=nlp)
    both.add_pipe("incparse", config={"model": str(tmp_path), "tags": "doc"})
    doc = both("The rain stopped before noon.")
    assert doc._.trees[0].tags == tuple(tags(doc))


def test_update_changes_nothing(nlp):
    before = nlp.get_pipe("incparse_tagger").model.to_bytes()
    losses = nlp.update(list(TreebankReader(ASSETS / "sample-train.mrg", limit=5)(nlp)), losses={})
    assert losses == {"incparse_tagger": 0.0}
    assert nlp.get_pipe("incparse_tagger").model.to_bytes() == before


def test_without_weights_or_tags_it_says_what_to_do():
    nlp = spacy.blank("en")
    component = nlp.add_pipe("incparse_tagger")
    with pytest.raises(IncparseError, match="'model': 'en'"):
        nlp("An owl slept.")
    doc = Doc(nlp.vocab, words=["An", "owl"])
    with pytest.raises(IncparseError, match="found no tagged sentences"):
        component.initialize(lambda: [Example(doc, doc.copy())])


def test_a_sentence_that_fails_keeps_its_tags(nlp):
    class Failing:
        labels = ()

        def tag(self, words):
            if "crash" in words:
                raise RuntimeError("something is wrong here")
            return ["X"] * len(words)

        def tag_batch(self, sentences):
            return [self.tag(words) for words in sentences]

    other = pipeline("incparse_tagger")
    other.get_pipe("incparse_tagger").model.tagger = Failing()
    with pytest.warns(UserWarning, match="was not tagged"):
        doc = other("Owls sleep. They crash.")
    assert tags(doc) == ["X", "X", "X", "", "", ""]
