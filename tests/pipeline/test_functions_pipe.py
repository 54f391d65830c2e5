import pickle

import pytest
import spacy
from spacy.tokens import Doc

from spacy_incparse.documents.gold import examples
from spacy_incparse.errors import ConfigError, IncparseError, ModelError
from spacy_incparse.pipeline.functions import functions_score
from tests.small_pipeline import untrained

GOLD = [
    "(S (NP-SBJ-1 (PRP She)) (VP (VBZ wants) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB go))))) (. .))",
    "(S (NP-SBJ-1 (PRP They)) (VP (VBP want) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB stay))))) (. .))",
    "(S (NP-SBJ (NNP Ada)) (VP (VBD slept) (NP-TMP (JJ last) (NN night))) (. .))",
    "(S (NP-SBJ (NNP Ben)) (VP (VBD sang) (NP-TMP (DT this) (NN morning))) (. .))",
]  # fmt: skip
TREE = "(TOP (S (NP (PRP He)) (VP (VBZ wants) (S (VP (TO to) (VP (VB sing))))) (. .)))"
FULL = "(TOP (S (NP-SBJ-1 (PRP He)) (VP (VBZ wants) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB sing))))) (. .)))"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    nlp = spacy.blank("en")
    nlp.add_pipe("incparse_functions")
    nlp.initialize(lambda: examples(nlp, 10 * GOLD))
    folder = tmp_path_factory.mktemp("functions")
    nlp.to_disk(folder)
    return folder


def a_doc(nlp, *trees):
    doc = Doc(nlp.vocab, words="He wants to sing .".split(), sent_starts=[1, 0, 0, 0, 0])
    doc._.trees = trees or [TREE]
    return doc


def printed(doc):
    return str(doc._.trees[0].with_empties())


def test_trees_get_functions_and_empties(saved):
    nlp = spacy.load(saved)
    (doc,) = nlp.pipe([a_doc(nlp)])
    assert printed(doc) == FULL
    assert doc._.trees[0] == a_doc(nlp)._.trees[0]  # words and phrases stay
    assert printed(nlp(doc)) == FULL  # again: nothing more


def test_steps_can_be_left_out_and_keep_what_is_given(saved):
    nlp = spacy.load(saved)
    pipe = nlp.get_pipe("incparse_functions")
    pipe.empties = False
    assert printed(pipe(a_doc(nlp))) == TREE.replace("(NP (PRP", "(NP-SBJ (PRP")
    pipe.empties, pipe.functions = True, False
    assert "NP-VOC" in printed(pipe(a_doc(nlp, TREE.replace("(NP (PRP", "(NP-VOC (PRP"))))


def test_functions_may_become_labels(saved):
    nlp = spacy.load(saved, config={"components.incparse_functions.labels": "full"})
    doc = nlp(a_doc(nlp))
    assert [node.label for node in doc._.trees[0].phrases("NP")] == ["NP-SBJ"]
    assert printed(doc) == FULL
    with pytest.raises(ConfigError, match="labels is 'some': it must be one of category, full"):
        spacy.blank("en").add_pipe("incparse_functions", config={"labels": "some"})


def test_dependencies_are_written_on_request(saved):
    nlp = spacy.load(saved, config={"components.incparse_functions.dependencies": True})
    doc = nlp(a_doc(nlp))
    assert [(token.dep_, token.head.text) for token in doc][:2] == [("nsubj", "wants"), ("ROOT", "wants")]
    assert not spacy.load(saved)(a_doc(nlp)).has_annotation("DEP")


def test_the_component_survives_pickling_and_processes(saved):
    nlp = spacy.load(saved)
    copy = pickle.loads(pickle.dumps(nlp.get_pipe("incparse_functions")))
    assert printed(copy(a_doc(nlp))) == FULL
    assert [printed(doc) for doc in nlp.pipe([a_doc(nlp), a_doc(nlp)], n_process=2)] == [FULL, FULL]


def test_training_is_deterministic_and_needs_gold(saved, tmp_path):
    spacy.blank("xx").to_disk(tmp_path)
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("incparse_functions", config={"training": {"tags": ["SBJ"]}})
    with pytest.raises(IncparseError, match="has no weights yet"):
        pipe(a_doc(nlp))
    with pytest.raises(IncparseError, match="found no gold trees to learn from"):
        nlp.initialize(list)
    with pytest.raises(ModelError, match="no component incparse_functions, and none comes with the package"):
        spacy.blank("xx").add_pipe("incparse_functions", config={"model": str(tmp_path)})
    nlp.initialize(lambda: examples(nlp, 10 * GOLD))
    assert {tag for tag in pipe.labels if tag} == {"SBJ"}
    weights = pipe.model.to_bytes()
    nlp.initialize(lambda: examples(nlp, 10 * GOLD))
    assert pipe.model.to_bytes() == weights


def test_scores(saved):
    nlp = spacy.load(saved)
    gold = examples(nlp, GOLD)
    for one in gold:
        one.predicted._.trees = [tree.strip_functions() for tree in one.reference._.trees]
    assert functions_score(gold)["subjects_f"] == 0
    for one in gold:
        nlp.get_pipe("incparse_functions")(one.predicted)
    assert functions_score(gold) == {"functions_f": 1, "subjects_f": 1, "empties_f": 1, "antecedents_f": 1}
    assert functions_score([])["functions_f"] is None


def test_an_odd_tree_stays_as_it_is(saved, monkeypatch):
    nlp = spacy.load(saved)
    pipe = nlp.get_pipe("incparse_functions")
    monkeypatch.setattr(type(pipe.model.learnt), "annotate", lambda *_, **__: 1 / 0)
    with pytest.warns(UserWarning, match="stays as it is"):
        assert printed(pipe(a_doc(nlp))) == TREE


def test_analyses_and_mirrors_know_the_trees(trained, saved):
    nlp = untrained().from_bytes(trained.to_bytes())
    nlp.add_pipe("incparse_functions", config={"model": str(saved), "labels": "full"})
    nlp.get_pipe("incparse").spans_key = "phrases"
    doc = nlp("The rain stopped.")
    tree = doc._.trees[0]
    assert "NP-SBJ" in {node.label for node in tree.phrases()}
    assert doc._.parses(2)[0][0].tree == tree
    lost = Doc(nlp.vocab).from_bytes(doc.to_bytes(exclude=["user_data"]))
    assert printed(lost) == printed(doc)
