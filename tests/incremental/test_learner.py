import pytest

from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.incremental.grammar import NOBODY, SPARE_TAGS, Labels, reachable_tags, retag
from spacy_incparse.incremental.learner import ParserLearner, treebank_model
from spacy_incparse.incremental.parser import PerceptronParser
from spacy_incparse.linear.weights import AveragedWeights
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.heads import HeadRules
from tests.reference.engine import learner_of, teach

CACHE = {"cache_size": 30, "cache_interval": 20, "cache_candidates": 4}


@pytest.fixture(scope="module")
def trees(sample_train):
    return sample_train[:50]


@pytest.mark.parametrize(
    ("features", "settings"),
    [("rich", {}), ("paper", {"update": "max_violation"}), ("paper+punct", {"update": "full"}), ("rich", CACHE)],
    ids=str,
)
def test_50_trees_are_learnt(features, settings, trees):
    learner = learner_of(trees, features=features, table_bits=16, **settings)
    n_updates = teach(learner, trees, 12)
    assert n_updates[0] > 10
    assert n_updates[-1] <= 2
    parser = learner.parser()
    assert sum(parser.parse(tree.words, tree.tags).tree == tree for tree in trees) >= 48


@pytest.mark.parametrize("settings", [{}, CACHE], ids=str)
def test_the_same_trees_give_the_same_bytes(settings, trees):
    learners = [learner_of(trees, **settings) for _ in range(2)]
    for learner in learners:
        teach(learner, trees, 2)
        learner.parser()  # looking at the average does not change what is learnt
        teach(learner, trees[:20])
    assert learners[0].state_to_bytes() == learners[1].state_to_bytes()
    assert learners[0].parser().to_bytes() == learners[1].parser().to_bytes()


@pytest.mark.parametrize("settings", [{}, CACHE, {"n_models": 2}], ids=str)
@pytest.mark.parametrize("n_before", [7, 70])
def test_a_learner_goes_on_where_its_state_was_taken(settings, n_before, trees):
    many = trees * 3
    straight = learner_of(trees, **settings)
    teach(straight, many)
    first = learner_of(trees, **settings)
    teach(first, many[:n_before])
    second = learner_of(trees, **settings)
    second.state_from_bytes(first.state_to_bytes())
    assert second.state_to_bytes() == first.state_to_bytes()
    teach(second, many[n_before:])
    assert second.state_to_bytes() == straight.state_to_bytes()
    assert second.parser().to_bytes() == straight.parser().to_bytes()


def test_states_of_others_and_damaged_ones_are_refused(trees):
    learner, other = learner_of(trees), learner_of(trees, table_bits=13)
    with pytest.raises(ModelError, match="another configuration"):
        learner.state_from_bytes(other.state_to_bytes())
    for data in (b"", b"junk", b"\x80", b"\x93\x01\x02\x03", learner.state_to_bytes()[:-40]):
        with pytest.raises(ModelError, match="the training state is damaged"):
            learner.state_from_bytes(data)


@pytest.mark.parametrize(
    "text",
    [
        "(TOP (ZZ (QQ otter)))",  # a label and a tag that training does not have
        "(TOP (NP (NP (NP (NP (NN otter) (NN otter)) (CC and)) (CC or)) (DT the)))",
        "(TOP (S (S (S (NP (VP (ADVP (NN otter) (RB so)))) (RB so)) (RB so)) (RB so)))",
    ],
)
def test_trees_that_the_grammar_lacks_do_no_harm(text, trees):
    learner = learner_of(trees)
    (tree,) = parse_bracketed(text)
    assert teach(learner, [tree])[0] in (0, 1)
    teach(learner, trees)
    assert learner.parser().parse(tree.words, tree.tags).tree.words == tree.words


def test_training_under_other_tags_than_the_trees(trees):
    """Jackknifed tags: grammar and weights are of the given tags, and with an interval of the trees' own too."""
    tags = [["NN" if tag == "NNS" else tag for tag in tree.tags] for tree in trees]
    for interval, has_gold_tags in ((0, False), (2, True)):
        config = ParserConfig(table_bits=12, gold_tag_interval=interval)
        learner = ParserLearner(treebank_model(trees, tags, config, HeadRules.from_name("en")), config)
        assert ("NNS" in learner.parser().tags) == has_gold_tags
        teach(learner, trees, 8, tags)
        parses = [learner.parser().parse(tree.words, given) for tree, given in zip(trees, tags, strict=True)]
        right = [parse.tree == retag(tree, given) for parse, tree, given in zip(parses, trees, tags, strict=True)]
        assert sum(right) >= 45


def test_tags_of_punctuation_are_found_by_their_words():
    text = "(TOP (X a) (, ,) (: --) (MD b) (MD ?) (POS '))"
    learner = learner_of(list(parse_bracketed(text)))
    tags = learner.model.grammar.tags
    assert {tags[k] for k in learner.model.punctuation} == {",", ":", "POS"}


def test_several_models_are_mixed(trees):
    """Each of two models learns by itself, and the parser has the mean of their averages."""
    single, double = learner_of(trees[:20]), learner_of(trees[:20], n_models=2)
    for tree in trees[:20]:
        single.learn(single.encode(tree.words, tree.tags, tree))
        double.learn(double.encode(tree.words, tree.tags, tree), 1)
    mixed, alone = double.parser().weights, single.parser().weights
    assert sum(weight != 0 for weight in alone) > 100
    gaps = [abs(alone[k] / alone.scale - 2 * mixed[k] / mixed.scale) for k in range(len(alone))]
    assert max(gaps) <= 1 / mixed.scale  # the other one has learnt nothing: the mean is a half


def test_the_right_tag_is_reached_where_it_is_among_several(trees):
    tree = trees[0]
    lattice = [[("X", 0.0), (tag, 2.0)] if k % 2 else tag for k, tag in enumerate(tree.tags)]
    assert reachable_tags(tree.tags, lattice) == list(tree.tags)
    assert reachable_tags(tree.tags, [[("X", 0.0), ("Y", 1.0)], *tree.tags[1:]]) == ["X", *tree.tags[1:]]


# A trained parser that learns more: what it knew stays, what is new is added.
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
    teach(learner, OLD, 4)
    return learner.parser()


def tuner_of(parser):
    return ParserLearner(parser.model, parser.config, parser.weights)


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
    with pytest.raises(IncparseError, match="no room for 200 more tags, such as 'T0'"):
        both.extended(Labels((), tuple(f"T{k}" for k in range(2 * SPARE_TAGS))))


def test_extending_changes_no_score_of_what_was_known(parser):
    learner = tuner_of(parser)
    learner.extend(NEW, [tree.tags for tree in NEW])
    for tree in OLD:
        parse = learner.parser().parse(tree.words, tree.tags)
        assert (parse.tree, parse.score) == (tree, pytest.approx(parser.parse(tree.words, tree.tags).score))


def test_new_labels_and_tags_are_learned_and_stored(parser):
    learner = tuner_of(parser)
    learner.extend(NEW[:1], [tree.tags for tree in NEW[:1]])
    learner.extend(NEW[1:], [tree.tags for tree in NEW[1:]])
    teach(learner, NEW, 12)
    tuned = PerceptronParser.from_bytes(learner.parser().to_bytes())
    assert [tuned.parse(tree.words, tree.tags).tree for tree in NEW] == NEW
    assert {"ZP", "QP"} <= set(tuned.labels)
    assert {"NEU", "ANDERS", "!"} <= set(tuned.tags)
    assert NOBODY not in tuned.tags
    again = tuner_of(tuned)
    again.extend(OLD, [tree.tags for tree in OLD])
    assert again.model.grammar.labels == tuned.model.grammar.labels


def test_trained_weights_count_in_the_average():
    old = AveragedWeights(8, 4, 0.1)
    tuned = AveragedWeights(8, 6, 0.1)
    tuned.start_from(old.averaged(), 10)
    assert tuned.n_steps == 10
    with pytest.raises(ValueError, match="another size"):
        AveragedWeights(9, 4, 0.1).start_from(old.averaged(), 10)
