"""A trained parser that learns more: what it knew stays, what is new is added."""

import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.incremental.grammar import NOBODY, SPARE_TAGS, Labels
from spacy_incparse.incremental.learner import ParserLearner, treebank_model
from spacy_incparse.incremental.parser import PerceptronParser
from spacy_incparse.linear.weights import AveragedWeights
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.heads import HeadRules

OLD = list(
    parse_bracketed(
        "(TOP (S (NP (DT the) (NN rain)) (VP (VBZ falls)) (. .)))"
        "(TOP (S (NP (NNS owls)) (VP (VBP hunt) (NP (NNS mice))) (. .)))"
        "(TOP (NP (NP (DT the) (NN end)) (PP (IN of) (NP (NN rain)))))"
    )
)
NEW = list(
    parse_bracketed(
        "(TOP (S (ZP (NEU zorp) (ANDERS flum)) (VP (VBZ falls)) (! !)))"
        "(TOP (QP (ZP (ANDERS flum)) (NP (DT the) (NEU zorp))))"
    )
)


@pytest.fixture(params=[{"features": "paper", "step_decay": 0.0}, {"features": "rich"}], ids=["paper", "rich"])
def parser(request):
    config = ParserConfig(table_bits=14, **request.param)
    learner = ParserLearner(treebank_model(OLD, [tree.tags for tree in OLD], config, HeadRules.from_name("en")), config)
    for _ in range(4):
        for tree in OLD:
            learner.update(tree.words, tree.tags, tree)
    return learner.parser()


def learner_of(parser):
    return ParserLearner(parser.model, parser.config, parser.weights)


def scores(parser, trees=OLD):
    return [parser.parse(tree.words, tree.tags).score for tree in trees]


def test_new_labels_come_after_the_old_ones():
    old = Labels(("S", "NP"), ("N", "V"))
    both = old.extended(Labels(("X", "S"), ("W", "N")))
    assert [both.nonterminal_ids[label] for label in old.nonterminals] == [0, 1]
    assert [both.tag_ids[tag] for tag in old.tags] == [0, 1]
    assert both.end_tag == old.end_tag == 2
    assert [both.tag_symbol(k) for k in (0, 1)] == [old.tag_symbol(k) for k in (0, 1)]
    symbols = [*both.nonterminal_ids.values(), *map(both.tag_symbol, both.tag_ids.values())]
    assert len(set(symbols)) == 6
    assert {both.name(symbol) for symbol in symbols} == {"S", "NP", "X", "N", "V", "W"}
    assert NOBODY not in both.tag_ids
    with pytest.raises(IncparseError, match="no room for 200 more tags"):
        both.extended(Labels((), tuple(f"T{k}" for k in range(2 * SPARE_TAGS))))


def test_extending_changes_no_score_of_what_was_known(parser):
    learner = learner_of(parser)
    learner.extend(NEW, [tree.tags for tree in NEW])
    assert [p.tree for p in learner.parser().parse_batch([(t.words, t.tags) for t in OLD])] == OLD
    assert scores(learner.parser()) == pytest.approx(scores(parser))


def test_new_labels_and_tags_are_learned_and_stored(parser):
    learner = learner_of(parser)
    learner.extend(NEW[:1], [tree.tags for tree in NEW[:1]])
    learner.extend(NEW[1:], [tree.tags for tree in NEW[1:]])
    for _ in range(12):
        for tree in NEW:
            learner.update(tree.words, tree.tags, tree)
    tuned = PerceptronParser.from_bytes(learner.parser().to_bytes())
    assert [tuned.parse(tree.words, tree.tags).tree for tree in NEW] == NEW
    assert {"ZP", "QP"} <= set(tuned.labels)
    assert {"NEU", "ANDERS", "!"} <= set(tuned.tags)
    assert NOBODY not in tuned.tags
    again = learner_of(tuned)
    again.extend(OLD, [tree.tags for tree in OLD])
    assert again.model.grammar.labels == tuned.model.grammar.labels


def test_trained_weights_count_in_the_average():
    old = AveragedWeights(8, 4, 0.1)
    tuned = AveragedWeights(8, 6, 0.1)
    tuned.start_from(old.averaged(), 10)
    assert tuned.n_steps == 10
    with pytest.raises(ValueError, match="another size"):
        AveragedWeights(9, 4, 0.1).start_from(old.averaged(), 10)
