"""Parts of Docs: what spaCy's layers read of them, and their vectors."""

import numpy as np
import pytest
import spacy
from spacy.attrs import ORTH
from spacy.ml.models.tok2vec import CharacterEmbed, MaxoutWindowEncoder, MultiHashEmbed, build_Tok2Vec_model

from spacy_incparse.neural.span_scorer import CutDocs, DocPart, create_span_scorer, cut_vectors

FORMS = ["NORM", "SHAPE"]


@pytest.fixture
def doc():
    nlp = spacy.blank("en")
    nlp.vocab.set_vector("owl", np.arange(6, dtype="f"))
    return nlp("The owl isn't here.  It sleeps.")


@pytest.mark.parametrize("attributes", [FORMS, ["ORTH"], ORTH, [ORTH]])
def test_arrays_are_parts_of_those_of_the_doc(doc, attributes):
    part = DocPart(doc, 2, 5, {})
    assert len(part) == 3
    assert part.vocab is doc.vocab
    assert (part.to_array(attributes) == doc.to_array(attributes)[2:5]).all()
    assert (part.to_utf8_array(4) == doc.to_utf8_array(4)[2:5]).all()


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
