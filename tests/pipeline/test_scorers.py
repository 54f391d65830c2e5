import pickle

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_incparse.documents.gold import KEYS, const_score, create_const_scorer, score_examples, trees_to_docs
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.treebanks.reader import normalize, parse_bracketed
from tests.fakes import FakeTagger, fake_pipeline, right_branching

NLP = spacy.blank("en")
GOLD = """
(TOP (S (NP (DT The) (JJ old) (NN owl)) (VP (VBD slept)) (. .)))
(TOP (S (NP (NNS Mice)) (VP (VBP like) (NP (NN cheese))) (. .)))
"""
PARSED = """
(TOP (S (NP (DT The) (NN old)) (VP (NN owl) (VBD slept)) (. .)))
(TOP (S (NP (NNS Mice)) (VP (VBP like) (NP (NN cheese))) (. .)))
"""


def docs(text, **options):
    return list(trees_to_docs(parse_bracketed(text), NLP.vocab, **options))


def examples(gold, parsed):
    return [Example(predicted, reference) for reference, predicted in zip(gold, parsed, strict=True)]


def test_the_figures_are_those_of_evalb():
    expected = score_trees(parse_bracketed(GOLD), parse_bracketed(PARSED)).to_dict()
    for n_sents in (1, 2):
        scores = const_score(examples(docs(GOLD, n_sents=n_sents), docs(PARSED, n_sents=n_sents)))
        assert scores == {key: pytest.approx(expected[key]) for key in KEYS}
    assert scores["const_f"] == pytest.approx(5 / 7)
    assert scores["const_exact"] == 0.5


def test_without_gold_there_are_no_scores():
    doc = Doc(NLP.vocab, words=["An", "owl"])
    assert const_score([Example(doc, doc.copy())]) == const_score([]) == dict.fromkeys(KEYS)
    with_gold = examples(docs(GOLD), docs(PARSED))
    assert const_score([*with_gold, Example(doc, doc.copy())]) == const_score(with_gold)


def test_unparsed_docs_have_found_nothing():
    gold = docs(GOLD)
    unparsed = [Doc(NLP.vocab, words=[token.text for token in doc]) for doc in gold]
    assert const_score(examples(gold, unparsed))["const_f"] == 0


def test_other_tokens_and_sentence_bounds_are_no_errors():
    gold = docs(GOLD, n_sents=2)
    joined = """(TOP (S (NP (DT The) (JJ old) (NN owl)) (VP (VBD sle) (VBD pt)) (. .))
                     (S (NP (NNS Mice)) (VP (VBP like) (NP (NN cheese))) (. .)))"""
    scores = const_score(examples(gold, docs(joined)))
    assert scores["const_f"] == 1.0
    assert scores["tag_acc"] < 1.0  # a token with other bounds has no right tag
    assert set(const_score(examples(gold, docs(GOLD, natural_spacing=True, n_sents=2))).values()) == {1.0}
    agreement = score_examples(examples(gold, docs(joined))).to_dict()
    assert agreement["sent_f"] < 1.0


def test_the_scorer_is_registered_and_can_be_pickled():
    assert spacy.registry.get("scorers", "spacy_incparse.const_scorer.v1") is create_const_scorer
    assert pickle.loads(pickle.dumps(create_const_scorer())) is const_score


def test_nlp_evaluate_calls_it():
    nlp = fake_pipeline()
    trees = [normalize(tree) for tree in parse_bracketed(GOLD)]
    branching = [right_branching(tree.words, FakeTagger().tag(tree.words)) for tree in trees]
    gold = list(trees_to_docs(branching, nlp.vocab))
    scores = nlp.evaluate(examples(gold, [Doc(nlp.vocab, words=[t.text for t in doc]) for doc in gold]))
    assert scores["const_f"] == scores["tag_acc"] == 1.0
