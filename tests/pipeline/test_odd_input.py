import warnings

from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_incparse.documents.storage import anchored_trees
from tests.strategies import odd_words

TOKENS = st.lists(st.one_of(odd_words(), st.text(max_size=5), st.sampled_from(["\n", " ", "\t\t", "."])), max_size=30)


@settings(deadline=None, max_examples=150)
@given(words=TOKENS, data=st.data())
def test_any_tokens_get_trees(trained, words, data):
    words = [word for word in words if word]  # spaCy itself has no empty tokens
    bounds = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    doc = Doc(trained.vocab, words=words, sent_starts=bounds)
    check(trained.get_pipe("incparse"), [doc])


@settings(deadline=None, max_examples=100)
@given(texts=st.lists(st.text(max_size=60), max_size=4))
def test_any_text_gets_trees(trained, texts):
    check(trained, texts)


def check(component, inputs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="incparse: a Doc without sentence boundaries")
        warnings.filterwarnings("ignore", message="incparse: words such as .* Penn Treebank")
        docs = list(component.pipe(inputs))
    for doc in docs:
        sentences = [s for s in doc.sents if not all(token.is_space for token in s)] if len(doc) else []
        assert [s._.tree for s in sentences] == list(doc._.trees)
        for sentence, tree in zip(sentences, doc._.trees, strict=True):
            assert tree.words == tuple(token.text for token in sentence if not token.is_space)
        assert all(found.source in ("beam", "relaxed", "flat") for found in anchored_trees(doc))


def test_a_sentence_of_2000_words(trained):
    doc = Doc(trained.vocab, words=["the", "rain", "stopped", ","] * 500, sent_starts=[True] + [False] * 1999)
    trained.get_pipe("incparse")(doc)
    assert len(doc._.trees[0].words) == 2000
