import json
import pickle
import subprocess
import sys

import pytest
import spacy
from spacy.tokens import Doc, Span
from thinc.api import Adam

from spacy_incparse.errors import ConfigError, IncparseError, ModelError
from tests.neural.conftest import MODEL, TEXT, TOK2VEC, examples, trees, untrained

LEAST_F = 0.6  # on held-out sentences, after training on 234 short ones


def test_it_learns(losses_and_pipeline):
    losses, nlp = losses_and_pipeline
    assert losses[-1]["incparse_neural"] < 0.3 * losses[0]["incparse_neural"]
    scores = nlp.evaluate(examples(nlp, "sample-dev.mrg"))
    assert scores["const_f"] > LEAST_F
    assert scores["tag_acc"] > 0.75


def test_trees_tags_and_spans_are_on_the_doc(component, nlp):
    component.spans_key = "phrases"
    doc = nlp(TEXT)
    first, second = doc._.trees
    assert first.words == tuple("The cat slept on the sofa .".split())
    assert second.span.text == "She thinks that the letters are in the box."
    assert [token.tag_ for token in doc] == [*first.tags, *second.tags]
    assert len(doc.spans["phrases"]) == len(first.spans()) + len(second.spans()) - 2  # without TOP
    assert first.source == "chart"


def test_given_tags_are_in_the_trees(component, nlp):
    component.tags = "doc"
    doc = Doc(nlp.vocab, ["We", "left"], tags=["PRON", ""], sent_starts=[True, False])
    (tree,) = nlp(doc)._.trees
    assert tree.tags[0] == "PRON"
    assert tree.tags[1] in component.label_data["tags"]


def test_a_saved_pipeline_gives_the_same_trees(nlp, tmp_path):
    doc = nlp(TEXT)
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert trees([again(TEXT)]) == trees([doc])
    assert again.get_pipe("incparse_neural").labels == nlp.get_pipe("incparse_neural").labels
    assert trees([pickle.loads(pickle.dumps(nlp))(TEXT)]) == trees([doc])


@pytest.mark.parametrize("part", ["chains", "tags"])
def test_labels_of_other_weights_are_reported(nlp, component, part, tmp_path):
    nlp.to_disk(tmp_path)
    path = tmp_path / "incparse_neural" / "cfg"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf8")) | {part: []}), encoding="utf8")
    with pytest.raises(ModelError, match=r"incparse_neural.*: the weights are for .* but cfg lists 0"):
        spacy.load(tmp_path)
    component.from_disk(tmp_path / "incparse_neural", exclude=["cfg", "vocab"])
    component.cfg[part].pop()
    data = nlp.to_bytes()
    with pytest.raises(ModelError, match="incparse_neural: the weights are for"):
        untrained().from_bytes(data)


@pytest.mark.parametrize("batch_size", [1, 2, 50])
def test_the_size_of_batches_changes_nothing(nlp, component, batch_size):
    """To the last digit that is stored; scores may differ in the last bits of single precision."""
    texts = [example.reference.text for example in examples(nlp, "sample-dev.mrg", 20)]
    expected, found = list(nlp.pipe(texts, batch_size=7)), list(nlp.pipe(texts, batch_size=batch_size))
    assert trees(found) == trees(expected)
    for a, b in zip(found, expected, strict=True):
        assert [tree.score for tree in a._.trees] == pytest.approx([tree.score for tree in b._.trees], abs=1e-3)


def test_odd_docs(nlp):
    docs = list(nlp.pipe(["", " ", "\n\n", "Stop", "  Stop.  ", "The  cat. \n It slept."]))
    assert [len(doc._.trees) for doc in docs] == [0, 0, 0, 1, 1, 2]
    assert [tree.words for tree in docs[5]._.trees] == [("The", "cat", "."), ("It", "slept", ".")]


def test_long_sentences_are_cut_after_punctuation(nlp, component):
    component.max_length = 50
    words = "the cat and the dog , ".split() * 10 + ["slept"] * 60
    (tree,) = nlp(Doc(nlp.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))]))._.trees
    assert tree.words == tuple(words)
    assert tree.source == "relaxed"
    for cut in (48, 98):
        assert not any(start < cut < end for _, start, end in tree.spans()[1:])


def test_parses_and_confidence(nlp, component):
    with pytest.warns(UserWarning, match="no example has a gold tree"):
        assert component.calibrate([]) is None
    held_out = examples(nlp, "sample-dev.mrg", 20)
    for example in held_out:
        example.predicted = nlp(example.predicted)
    assert component.calibrate(held_out) > 0
    doc = nlp(TEXT)
    first, second = doc._.parses(5)
    assert len(first) == len(second) == 5
    assert first[0].tree == doc._.trees[0]
    assert len({str(parse.tree) for parse in first}) == 5
    others = [parse.score for parse in first[1:]]
    assert others == sorted(others, reverse=True)
    assert 0 < doc._.trees[0].confidence <= 1
    assert all(0 < node.confidence <= 1 for node in doc._.trees[1].preorder() if not node.is_leaf)
    assert sum(parse.probability for parse in first) <= 1 + 1e-6  # exact probabilities, of all trees
    again = untrained().from_bytes(nlp.to_bytes())
    assert again.get_pipe("incparse_neural").decoder.temperature == pytest.approx(component.decoder.temperature)


def test_constraints(nlp, component):
    component.required_key, component.forbidden_key = "must", "must_not"
    component.cfg["temperature"] = 1.0
    doc = nlp.make_doc("The cat slept on the sofa.")
    doc.spans["must"] = [Span(doc, 1, 3, "NP"), Span(doc, 3, 6)]
    doc.spans["must_not"] = [Span(doc, 0, 2)]
    doc = nlp(doc)
    (tree,) = doc._.trees
    assert ("NP", 1, 3) in tree.spans()
    assert any(span[1:] == (3, 6) for span in tree.spans())
    assert not any(span[1:] == (0, 2) for span in tree.spans())
    assert all(("NP", 1, 3) in parse.tree.spans() for parse in doc._.parses(4)[0])
    node = next(node for node in tree.preorder() if (node.label, node.start, node.end) == ("NP", 1, 3))
    assert 0 < tree.confidence < node.confidence == pytest.approx(1)


def test_constraints_that_no_tree_meets_are_dropped(nlp, component):
    component.required_key = "must"
    doc = nlp.make_doc("The cat slept on the sofa.")
    doc.spans["must"] = [Span(doc, 0, 3), Span(doc, 1, 4), Span(doc, 0, 2, "XYZ")]
    with pytest.warns(UserWarning, match="no tree was found with"):
        (tree,) = nlp(doc)._.trees
    assert len(tree.words) == 7


def test_trees_can_be_scored(nlp, component):
    doc = nlp("The cat slept.")
    (tree,) = doc._.trees
    assert component.score(doc, tree).score == pytest.approx(tree.score, abs=1e-3)
    assert component.score(doc, "(TOP (XYZ (DT The) (NN cat) (VBD slept) (. .)))").score is None


def test_the_choice_of_the_tree_can_be_changed(nlp, component):
    by_score = component.search = {"choose": "score"}
    best = nlp(TEXT)
    component.search = {"choose": "expected_f", "threshold": 0.99}
    few = nlp(TEXT)
    assert sum(tree.size for tree in few._.trees) < sum(tree.size for tree in best._.trees)
    assert by_score == {"choose": "score"}
    with pytest.raises(ConfigError, match="choose is 'luck'"):
        component.search = {"choose": "luck"}


def test_the_upper_layers_can_learn_faster():
    slow, fast = untrained(learn_rate_scale=0.0), untrained(learn_rate_scale=10.0)
    for nlp, changes in ((slow, False), (fast, True)):
        found = examples(nlp, limit=5)
        nlp.initialize(lambda found=found: found)
        head = nlp.get_pipe("incparse_neural").model.get_ref("head")
        before = head.get_ref("labels").get_param("W").copy()
        nlp.update(found, sgd=Adam(0.001, L2=0))
        assert (head.get_ref("labels").get_param("W") != before).any() == changes


def test_labels(nlp, component):
    assert "NP" in component.labels
    assert ["NP"] in component.label_data["labels"]
    assert component.add_label("NP") == 0
    other = untrained()
    assert other.get_pipe("incparse_neural").add_label("XP") == 1
    found = examples(other, limit=10)
    other.initialize(lambda: found)
    assert "XP" in other.get_pipe("incparse_neural").labels
    given = untrained()
    given.config["initialize"]["components"]["incparse_neural"] = {"labels": component.label_data}
    given.initialize(lambda: found[:2])
    assert given.get_pipe("incparse_neural").labels == component.labels


def test_an_untrained_component_says_so():
    nlp = untrained()
    with pytest.raises(IncparseError, match="has no weights yet"):
        nlp(TEXT)
    found = examples(nlp, limit=2)
    with pytest.raises(IncparseError, match="is not initialized"):
        nlp.get_pipe("incparse_neural").update(found)
    with pytest.raises(IncparseError, match="found no gold trees"):
        nlp.initialize(lambda: [spacy.training.Example(nlp.make_doc("a b"), nlp.make_doc("a b"))])


def test_wrong_settings_are_reported():
    with pytest.raises(ConfigError, match="loss is 'hinge': it must be one of crf, local, max-margin"):
        untrained(loss="hinge")
    with pytest.raises(ConfigError, match="max_length is 0"):
        untrained(max_length=0)
    with pytest.raises(ConfigError, match="threshold is 2"):
        untrained(search={"threshold": 2})
    for width in (0, -5):
        with pytest.raises(ConfigError, match=f"hidden_width is {width}"):
            untrained(model=MODEL | {"hidden_width": width})
    with pytest.raises(ConfigError, match=r"the model is .*: it must be a spacy_incparse\.SpanScorer\.v1"):
        untrained(model=TOK2VEC)


@pytest.mark.parametrize("change", ["merge", "split"])
def test_analyses_of_a_doc_whose_tokens_were_merged_or_split(nlp, change):
    """What the layer reads of a token is gone then, such as the norm of a contraction; other sentences keep theirs."""
    doc = nlp(TEXT)
    before = str(doc._.trees[0])
    with doc.retokenize() as retokenizer:
        if change == "merge":
            retokenizer.merge(doc[0:2])
        else:
            retokenizer.split(doc[1], [doc[1].text[0], doc[1].text[1:]], heads=[doc[0], doc[0]])
    assert str(doc._.trees[0]) == before
    for options in ({}, {"nlp": nlp}):
        with pytest.raises(IncparseError, match="merged or split"):
            doc._.parses(2, **options)


def test_examples_without_trees_change_nothing(nlp, component):
    doc = nlp.make_doc("no tree here")
    before = component.model.get_ref("head").get_param("gain").copy()
    losses = nlp.update([spacy.training.Example(doc, doc.copy())], sgd=Adam(0.001, L2=0), losses={})
    assert losses == {"incparse_neural": 0.0}
    assert (component.model.get_ref("head").get_param("gain") == before).all()


def test_a_new_pipeline_loads_no_layers():
    """Nothing beyond what spaCy itself loads: thinc imports PyTorch where it is installed."""
    code = (
        "import sys, spacy; before = set(sys.modules); nlp = spacy.blank('en'); nlp.add_pipe('incparse');"
        "names = {'torch', 'spacy_incparse.neural.bracket_chart', 'spacy_incparse.neural.span_scorer'};"
        "print(*sorted(names & set(sys.modules) - before))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "\n"
