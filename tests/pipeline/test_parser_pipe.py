import pickle
import warnings

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example

from spacy_incparse.documents.storage import anchored_trees
from spacy_incparse.errors import ConfigError, IncparseError
from tests.fakes import fake_model, fake_pipeline
from tests.small_pipeline import untrained
from tests.strategies import odd_words


def test_each_sentence_has_a_tree():
    doc = fake_pipeline()("The owl slept. Mice ran!")
    assert [str(tree) for tree in doc._.trees] == [
        "(TOP (S (CAP The) (VP (LOW owl) (VP (LOW slept) (VP (PUNCT .))))))",
        "(TOP (S (CAP Mice) (VP (LOW ran) (VP (PUNCT !)))))",
    ]


def test_whitespace_tokens_belong_to_no_leaf():
    doc = fake_pipeline()("  The  owl \n slept .\n\n Mice ran .  ")
    assert [tree.words for tree in doc._.trees] == [("The", "owl", "slept", "."), ("Mice", "ran", ".")]
    assert [sentence._.tree for sentence in doc.sents] == [*doc._.trees, None]  # the last is only whitespace


@pytest.mark.parametrize("text", ["", " ", "\n\n \t"])
def test_empty_docs_have_no_trees(text):
    nlp = fake_pipeline()
    assert nlp(text)._.trees == ()
    assert [doc._.trees for doc in nlp.pipe([text, text])] == [(), ()]


def test_without_sentence_bounds_the_doc_is_one_sentence_with_one_warning():
    nlp = fake_pipeline()
    nlp.remove_pipe("sentencizer")
    with pytest.warns(UserWarning, match="without sentence boundaries is parsed as one sentence") as caught:
        docs = list(nlp.pipe(["The owl slept. Mice ran.", "An owl. A mouse."]))
    nlp("One more. And another.")
    assert len(caught) == 1
    assert [len(doc._.trees) for doc in docs] == [1, 1]
    assert docs[0][:]._.tree == docs[0]._.trees[0]
    nlp = fake_pipeline()
    nlp.remove_pipe("sentencizer")
    assert len(nlp("Yes")._.trees) == 1  # a single token needs none


def test_a_sentence_that_fails_gets_a_flat_tree_and_the_others_their_own():
    nlp = fake_pipeline()
    with pytest.warns(UserWarning, match="got a flat tree") as caught:
        docs = list(nlp.pipe(["The owl slept. They crash here.", "Mice ran. A crash again."]))
    assert len(caught) == 1
    assert [found.source for doc in docs for found in anchored_trees(doc)] == ["beam", "flat", "beam", "flat"]
    assert str(docs[0]._.trees[1]) == "(TOP (X They) (X crash) (X here) (X .))"


def test_tags_of_the_doc_are_written_on_request_only():
    doc = fake_pipeline()("The owl slept.")
    assert [token.tag_ for token in doc] == [""] * 4
    doc = fake_pipeline(set_tags=True)("The  owl slept.")
    assert [token.tag_ for token in doc] == ["CAP", "", "LOW", "LOW", "PUNCT"]


def test_given_tags_are_taken_token_by_token():
    nlp = fake_pipeline(tags="doc")
    doc = nlp(Doc(nlp.vocab, words=["the", "Owl", "slept"], tags=["CAP", "", "LOW"]))
    assert doc._.trees[0].tags == ("CAP", "CAP", "LOW")
    assert fake_pipeline(tags="own")(Doc(nlp.vocab, words=["the"], tags=["CAP"]))._.trees[0].tags == ("LOW",)


def test_unknown_tags_are_named_once():
    nlp = fake_pipeline(tags="doc")
    doc = Doc(nlp.vocab, words=["old", "owl", "!"], tags=["ADJ", "NOUN", "PUNCT"])
    with pytest.warns(UserWarning, match="does not know: ADJ, NOUN "):
        nlp(doc)
    nlp(doc)


def test_a_component_without_weights_says_how_to_get_them():
    nlp = spacy.blank("en")
    nlp.add_pipe("incparse")
    with pytest.raises(IncparseError, match="'model': 'en'"):
        nlp("The owl slept.")
    handled = []
    nlp.set_error_handler(lambda name, proc, docs, error: handled.append(name))
    assert list(nlp.pipe(["The owl slept."])) == []
    assert handled == ["incparse"]
    with pytest.raises(IncparseError, match="no weights"):
        nlp.get_pipe("incparse").start()


def test_a_session_takes_the_own_taggers_tags_and_answers_late(trained):
    words, component = "The old train was late .".split(), trained.get_pipe("incparse")
    reach, session = component.model.tagger.look_ahead, component.start()
    assert session.look_ahead == reach == 2
    for word in words:
        session = session.push(word)
    assert session.best().tree.words == tuple(words[:-reach])
    (tree,) = trained(" ".join(words))._.trees
    assert str(session.best(complete=True).tree) == str(tree)


def test_wrong_settings_are_refused():
    nlp = spacy.blank("en")
    with pytest.raises(ConfigError, match="'gold' must be 'own' or 'doc'"):
        nlp.add_pipe("incparse", config={"tags": "gold"})
    with pytest.raises(ConfigError, match="'beam' is not a search setting"):
        nlp.add_pipe("incparse", config={"search": {"beam": 10}})
    component = nlp.add_pipe("incparse")
    for name in ("spans_key", "required_key", "forbidden_key"):
        with pytest.raises(ConfigError, match=f"incparse: {name} = 3 must be a name, or None"):
            setattr(component, name, 3)
        assert getattr(component, name) is None


def test_long_docs():
    nlp = fake_pipeline()
    doc = nlp("The owl slept. " * 4_000)
    assert len(doc._.trees) == 4_000
    assert doc[8_000:8_004]._.tree.words == ("The", "owl", "slept", ".")


def test_pickle_keeps_settings_but_no_training():
    component = spacy.blank("en").add_pipe(
        "incparse", config={"search": {"beam_size": 7}, "set_tags": True, "spans_key": "p"}
    )
    copy = pickle.loads(pickle.dumps(component))
    assert (copy.name, copy.search, copy.set_tags, copy.spans_key) == ("incparse", {"beam_size": 7}, True, "p")
    assert copy.scorer is component.scorer


def test_other_components_can_use_params():
    nlp = fake_pipeline()
    with nlp.use_params({("foreign", "key"): None}):
        assert len(nlp("The owl slept.")._.trees) == 1


def test_no_labels_can_be_added():
    component = fake_pipeline().get_pipe("incparse")
    assert component.add_label("NP") == 0
    assert not component.is_resizable
    assert component.labels == ("S", "VP")
    assert component.label_data == {"labels": ["S", "VP"], "tags": ["CAP", "LOW", "PUNCT"]}


@pytest.mark.parametrize("setter", ["sentencizer", "senter", "parser"])
def test_the_order_of_components_is_known_and_a_wrong_one_has_a_cure(setter):
    nlp = spacy.blank("en")
    nlp.add_pipe("incparse", "trees").model = fake_model()
    with pytest.warns(UserWarning, match=r"nlp\.add_pipe\('sentencizer', before='trees'\)"):
        nlp("The owl slept. Mice ran.")
    late = nlp.add_pipe("incparse", "more")
    late.model = fake_model()
    nlp.add_pipe(setter, "bounds")
    assert nlp.analyze_pipes()["problems"]["more"] == ["token.is_sent_start"]
    with pytest.warns(UserWarning, match=r"'bounds' sets them, but comes after 'more': nlp.*'bounds', before='more'"):
        late(nlp.make_doc("The owl slept. Mice ran."))
    nlp.add_pipe(setter, "early", first=True)
    assert not any(nlp.analyze_pipes()["problems"].values())


def test_search_and_nbest_may_be_changed_after_the_first_text(trained):
    nlp = untrained().from_bytes(trained.to_bytes())
    component = nlp.get_pipe("incparse")
    nlp("The dog sang.")
    component.search = {"beam_size": 1, "gamma": 0}
    assert component.decoder.parser.config.beam_size == 1
    component.nbest = 3
    component.search = {"beam_size": 8, "gamma": None}
    assert "n=" in next(iter(nlp("The dog sang.").user_data.values()))
    with pytest.raises(ConfigError, match="'gama'"):
        component.search = {"gama": 3}
    with pytest.raises(ConfigError, match="nbest = -1"):
        component.nbest = -1
    with pytest.raises(TypeError):
        component.search["gamma"] = 3
    assert dict(component.search) == {"beam_size": 8, "gamma": None}


def test_measures_of_a_model_that_is_not_generative_are_refused_at_once():
    with pytest.raises(ConfigError, match=r"incparse: measures need a generative model.*'en' is not one"):
        spacy.blank("en").add_pipe("incparse", config={"model": "en", "measures": True})
    spacy.blank("en").add_pipe("incparse", config={"model": "en_generative", "measures": True})


def test_rehearsal_says_once_that_it_does_nothing():
    nlp = fake_pipeline()
    examples = [Example(nlp.make_doc("The owl slept."), nlp.make_doc("The owl slept."))]
    with pytest.warns(UserWarning, match=r"rehearse\(\) does nothing here"):
        nlp.rehearse(examples)
    assert nlp.rehearse(examples) == {}


def test_penn_spelling_is_told_once_and_read_on_request():
    nlp = fake_pipeline()
    words = ["He", "-LRB-", "``", "1\\/2", "-EMPTY-", "''"]
    for text in (["It's", "''", "5''"], ["a", "\\", "-"]):  # of raw texts
        nlp(Doc(nlp.vocab, words=text))
    with pytest.warns(
        UserWarning, match="'-LRB-' are in the spelling of the Penn Treebank.*ptb_words.*--ptb"
    ) as caught:
        docs = list(nlp.pipe([Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words)]))
    assert len(caught) == 1
    assert docs[0]._.trees[0].words == tuple(words)
    nlp.get_pipe("incparse").ptb_words = True
    doc = nlp(Doc(nlp.vocab, words=words))
    (tree,) = doc._.trees
    assert tree.words == ("He", "(", '"', "1/2", "-EMPTY-", '"')
    assert [node.span.text for node in tree.pos_nodes()] == words
    assert Doc(nlp.vocab).from_bytes(doc.to_bytes())._.trees == (tree,)
    with pytest.raises(ConfigError, match="ptb_words = 1 must be true or false"):
        nlp.get_pipe("incparse").ptb_words = 1


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
