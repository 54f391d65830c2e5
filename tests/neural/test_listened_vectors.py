import numpy as np
import pytest
import spacy
from spacy.ml.models.tok2vec import CharacterEmbed, MaxoutWindowEncoder, MultiHashEmbed, build_Tok2Vec_model
from spacy.tokens import Doc, DocBin
from thinc.api import Model

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.neural.span_scorer import CutDocs, check_listened, create_span_scorer, cut_vectors
from tests.neural.conftest import MODEL, TOK2VEC, examples

LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": TOK2VEC["width"], "upstream": "tok2vec"}
TEXT = "The cat slept on the sofa."
MISSING = r"incparse_neural: the Doc 'The cat slept on the sofa \.' has no word vectors \(doc\.tensor\)"


@pytest.fixture
def shared():
    """A pipeline with random weights whose parser reads the layer of another component."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tok2vec", config={"model": TOK2VEC})
    nlp.add_pipe("incparse_neural", config={"model": MODEL | {"tok2vec": LISTENER}})
    found = examples(nlp, limit=5)
    nlp.initialize(lambda: found)
    return nlp


@pytest.fixture
def trf_data():
    """The attribute of Docs that spacy-transformers and spacy-curated-transformers install."""
    is_new = not Doc.has_extension("trf_data")
    if is_new:
        Doc.set_extension("trf_data", default=None)
    yield
    if is_new:
        Doc.remove_extension("trf_data")


def cleaned(doc):
    """Do as spaCy's `doc_cleaner`."""
    doc.tensor = np.zeros(0, "float32")
    return doc


def test_analyses_of_a_cleaned_doc_are_refused(shared):
    doc = shared(TEXT)
    assert len(doc._.parses(2, nlp=shared)[0]) == 2
    other = cleaned(shared(TEXT))
    with pytest.raises(IncparseError, match=MISSING):
        other._.parses(2, nlp=shared)
    with pytest.raises(IncparseError, match=r"no pipeline in this process .* \(doc\.tensor, doc\._\.trf_data\)"):
        other._.parses(2)
    with pytest.raises(IncparseError, match=MISSING):
        shared.get_pipe("incparse_neural").score(other, other._.trees[0])
    (stored,) = DocBin(store_user_data=True, docs=[doc]).get_docs(shared.vocab)
    with pytest.raises(IncparseError, match=MISSING):
        stored._.parses(2, nlp=shared)


def test_a_pipeline_whose_vectors_have_another_width_does_not_disturb(shared):
    """Without a temperature of its own, the first pipeline's analyses are also looked for in the second."""
    other = spacy.blank("en")
    other.add_pipe("sentencizer")
    other.add_pipe("tok2vec", config={"model": TOK2VEC | {"width": 32}})
    other.add_pipe("incparse_neural", config={"model": MODEL | {"tok2vec": LISTENER | {"width": 32}}})
    found = examples(other, limit=5)
    other.initialize(lambda: found)
    doc = shared(TEXT)
    assert len(doc._.parses(2)[0]) == 2


def test_a_listener_with_another_width_is_reported():
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": TOK2VEC})
    nlp.add_pipe("incparse_neural", config={"model": MODEL | {"tok2vec": LISTENER | {"width": 32}}})
    found = examples(nlp, limit=5)
    nlp.initialize(lambda: found)
    with pytest.raises(ConfigError, match="48 dimensions, and the model needs 32: the width of a listener"):
        nlp.update(found)


def test_a_pipeline_without_the_layer_is_refused(shared):
    with shared.select_pipes(disable="tok2vec"), pytest.raises(IncparseError, match=MISSING):
        shared(TEXT)
    assert [len(doc._.trees) for doc in shared.pipe(["", " ", TEXT])] == [0, 0, 1]


def test_a_layer_of_its_own_needs_no_vectors_on_docs(shared):
    shared.replace_listeners("tok2vec", "incparse_neural", ["model.tok2vec"])
    doc = shared(TEXT)
    assert cleaned(doc)._.parses(3, nlp=shared) == shared(TEXT)._.parses(3, nlp=shared)


def test_docs_of_other_pipelines_find_theirs(shared, nlp):
    doc = cleaned(nlp(TEXT))
    assert shared.get_pipe("incparse_neural").vocab is not doc.vocab
    doc = Doc(shared.vocab).from_bytes(doc.to_bytes())  # now, the pipeline that cannot be asked is the first one
    assert str(doc._.parses(2)[0][0].tree) == str(doc._.trees[0])


@pytest.mark.parametrize(("name", "attrs"), [("transformer-listener", {}), ("any", {"_TRANSFORMER_LISTENER": True})])
@pytest.mark.usefixtures("trf_data")
def test_listeners_of_transformers_are_known(name, attrs):
    """Those of spacy-transformers and of spacy-curated-transformers, within other layers."""
    layer = Model("pooled", lambda *_: None, layers=[Model(name, lambda *_: None, attrs=attrs)])
    doc = Doc(spacy.blank("en").vocab, words=TEXT.split())
    with pytest.raises(IncparseError, match=r"trees: the Doc 'The .* has no word vectors \(doc\._\.trf_data\)"):
        check_listened(layer, [doc], "trees")
    doc._.trf_data = "vectors"
    check_listened(layer, [doc, Doc(doc.vocab)], "trees")


FORMS = ["NORM", "SHAPE"]


@pytest.fixture
def doc():
    nlp = spacy.blank("en")
    nlp.vocab.set_vector("owl", np.arange(6, dtype="f"))
    return nlp("The owl isn't here.  It sleeps.")


@pytest.mark.parametrize(
    "embed", [MultiHashEmbed(8, FORMS, [50, 50], True), CharacterEmbed(8, 4, 8, 50, False, feature="NORM")]
)
def test_vectors_do_not_depend_on_other_sentences(doc, embed):
    layer = build_Tok2Vec_model(embed, MaxoutWindowEncoder(8, 1, 3, 2))
    scorer = create_span_scorer(layer, hidden_width=8)
    layer.initialize([doc])
    first, second = cut_vectors(scorer, CutDocs([doc], [[range(6), [7, 8, 9]]]))
    (alone,) = cut_vectors(scorer, CutDocs([doc[:6].as_doc()], [[range(6)]]))
    assert first == pytest.approx(alone, abs=1e-6)
    assert second == pytest.approx(layer.predict([doc[7:10].as_doc()])[0], abs=1e-6)
    assert not np.allclose(first, layer.predict([doc])[0][:6])


def test_scores_depend_on_the_vectors_which_are_saved(tmp_path):
    nlp, generator = spacy.blank("en"), np.random.default_rng(0)
    nlp.vocab.reset_vectors(width=10)
    for token in nlp(TEXT):
        nlp.vocab.set_vector(token.text, generator.normal(size=10).astype("float32"))
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("incparse_neural", config={"model": MODEL | {"tok2vec": TOK2VEC | {"pretrained_vectors": True}}})
    found = examples(nlp, limit=5)
    nlp.initialize(lambda: found)

    def score(nlp):
        (tree,) = nlp(TEXT)._.trees
        return tree.score

    before = score(nlp)
    nlp.vocab.set_vector("piano", -nlp.vocab.get_vector("cat"))
    assert score(nlp) == before  # the text does not have this word
    nlp.vocab.set_vector("cat", -nlp.vocab.get_vector("cat"))
    changed = score(nlp)
    assert abs(changed - before) > 1e-3
    nlp.to_disk(tmp_path)
    assert score(spacy.load(tmp_path)) == changed
