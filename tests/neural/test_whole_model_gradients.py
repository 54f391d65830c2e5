"""The gradients of the whole model, from the losses down to each layer of word vectors, against finite differences."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import NumpyOps

from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.neural.brackets import LOSSES, crf_loss, total_loss
from spacy_incparse.neural.component import gold_batch
from spacy_incparse.neural.span_scorer import SpanScores
from spacy_incparse.trees.tree import Tree
from tests.neural.conftest import MODEL, TOK2VEC

TREES = [
    Tree.from_string("(TOP (S (NP (DT The) (NN owl)) (VP (VBD slept)) (. .)))"),
    Tree.from_string("(TOP (S (NP (PRP It)) (VP (VBD was) (ADJP (JJ old))) (. .)))"),
    Tree.from_string("(TOP (S (VP (VB Stop))))"),
    Tree.from_string("(TOP (S (NP (NNP Rome)) (VP (VBZ is) (NP (DT a) (NN city))) (. .)))"),
]
SMALL = MODEL | {"hidden_width": 8, "form_width": 4, "tok2vec": TOK2VEC | {"width": 6, "depth": 1, "embed_size": 50}}
STEP = 5e-4  # small, so that few maxima change within it
TOLERANCE = 0.02  # of the norm of a gradient


def with_spaces(doc):
    """The words of a Doc without annotation, with space tokens before, between and after them."""
    words = [word for token in doc for word in ([" ", token.text] if token.i % 3 == 0 else [token.text])]
    return Doc(doc.vocab, words=[*words, "\n"])


def component_and_examples(loss):
    """A component with random weights, and examples of two sentences each; a gold chain and a tag are unknown to it."""
    nlp = spacy.blank("en")
    component = nlp.add_pipe("incparse_neural", config={"loss": loss, "tag_weight": 0.7, "model": SMALL})
    found = [Example(with_spaces(doc), doc) for doc in trees_to_docs(TREES, nlp.vocab, n_sents=2)]
    component.initialize(lambda: found, nlp=nlp)
    component.cfg["chains"][component.cfg["chains"].index(["ADJP"])] = ["XP"]
    component.cfg["tags"][component.cfg["tags"].index("DT")] = "XX"
    generator = np.random.default_rng(0)
    for _, node, name in parameters(component.model):
        shape = node.get_param(name).shape
        node.set_param(name, generator.normal(scale=0.5, size=shape).astype("float32"))
    return component, found


def parameters(model):
    for node in model.walk():
        for name in node.param_names:
            if node.has_param(name):
                yield f"{node.name}.{name}", node, name


def compute_gradients(component, found):
    scores, backprop = component.model.begin_update(gold_batch(found, component.max_length)[0])
    backprop(component.get_loss(found, scores)[1])


def slope(component, found, node, name, direction):
    """The derivative of a batch's loss in a direction of one parameter."""
    given, before = gold_batch(found, component.max_length)[0], node.get_param(name).copy()
    losses = []
    for step in (STEP, -STEP):
        node.set_param(name, before + np.float32(step) * direction)
        losses.append(component.get_loss(found, component.model.predict(given))[0])
    node.set_param(name, before)
    return (losses[0] - losses[1]) / (2 * STEP)


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_of_all_layers_are_finite_differences(loss):
    """Several sentences in a Doc, space tokens, and vectors of forms beside those of the layer."""
    component, found = component_and_examples(loss)
    compute_gradients(component, found)
    generator, checked = np.random.default_rng(1), list(parameters(component.model))
    assert sum("hashembed" in full for full, _, _ in checked) == 7  # four tables of the layer, three of forms
    for full, node, name in checked:
        gradient = node.get_grad(name).copy()
        for _ in range(3):
            direction = generator.normal(size=gradient.shape).astype("float32")
            expected = float((gradient * direction).sum(dtype="f8"))
            error = slope(component, found, node, name, direction) - expected
            assert abs(error) < TOLERANCE * np.linalg.norm(gradient), full


def loss_of_tags(tags, weight=0.7):
    """The loss and the gradient of the scores of tags, beside labels that no tree has; "NN" is an unknown tag."""
    known = ["DT", "PRP", "VBD", "JJ", "."]
    n_spans = sum(len(tree.words) * (len(tree.words) + 1) // 2 for tree in TREES[:2])
    scores = SpanScores(np.zeros((n_spans, 1), "float32"), tags, [4, 4])
    loss, gradient = total_loss(TREES[:2], scores, NumpyOps(), crf_loss, [("XP",)], known, weight)
    return loss, gradient.tags


def random_tag_scores():
    return np.random.default_rng(3).normal(size=(8, 5)).astype("float32")


@pytest.mark.parametrize("shift", [-1000, -200, 200])
def test_only_differences_of_tag_scores_matter(shift):
    loss, gradient = loss_of_tags(random_tag_scores())
    shifted_loss, shifted = loss_of_tags(random_tag_scores() + np.float32(shift))
    assert shifted_loss == pytest.approx(loss, rel=1e-4)
    assert shifted == pytest.approx(gradient, abs=1e-4)
