import pickle
import warnings

import pytest
import spacy

from spacy_incparse import Parser, Tree
from spacy_incparse.cli.parse import parse_texts
from spacy_incparse.cli.score_trees import score_trees as score_given_trees
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.pipeline.registered import TreebankReader
from tests.neural.conftest import TEXT, trees
from tests.small_pipeline import ASSETS, untrained


@pytest.fixture
def pair(nlp, trained):
    """A pipeline with a neural and a perceptron parser, and without a combiner."""
    # A sourced component is not copied, and other tests have the trained one, too.
    nlp.add_pipe("incparse", source=untrained().from_bytes(trained.to_bytes()))
    return nlp


@pytest.fixture
def combined(pair):
    pair.add_pipe("incparse_combiner")
    return pair


def test_its_probabilities_are_the_weighted_means_of_the_members(combined):
    doc = combined.make_doc("The cat slept on the sofa.")
    doc[0].is_sent_start = True
    combiner = combined.get_pipe("incparse_combiner")
    combiner.members = {"incparse_neural": 3.0, "incparse": 1.0}
    assert combiner.decoder.parser.has_posterior
    (sentence,) = combiner.sentences_of(doc)
    found = combiner.decoder.parser.posterior(*combiner.input_of(sentence), temperature=1.0).phrases
    parts = {}
    for name, weight in (("incparse_neural", 0.75), ("incparse", 0.25)):
        component = combined.get_pipe(name)
        (own,) = component.sentences_of(doc)
        parser, given = component.decoder.parser, component.input_of(own)
        exact = parser.posterior(*given, temperature=parser.temperature or 1.0)
        phrases = _listed(parser, *given[:2]) if exact is None else dict(exact.phrases)
        for phrase, share in phrases.items():
            parts[phrase] = parts.get(phrase, 0.0) + weight * share
    assert found == pytest.approx(parts)
    tree = combiner.decoder.parser.parse(*combiner.input_of(sentence)).tree
    assert all(found[phrase] > 0.45 for phrase in tree.spans()[1:])
    tolerance = combined.get_pipe("incparse_neural").decoder.parser.score_tolerance
    assert combiner.decoder.model_parser.score_tolerance == tolerance > 0


def _listed(parser, words, tags):
    from spacy_incparse.parsing.combination import PERCEPTRONS
    from spacy_incparse.parsing.nbest import phrases_of

    parses = parser.with_wide_search(50).nbest(words, tags, 50)
    return phrases_of(parses, parser.temperature or PERCEPTRONS)


def test_the_last_component_decides_also_if_the_members_are_disabled(combined):
    expected = trees([combined(TEXT)])
    (first, second), tags = combined(TEXT)._.trees, [token.tag_ for token in combined(TEXT)]
    assert [*first.tags, *second.tags] == tags  # those of the first member, which writes them
    with combined.select_pipes(disable=["incparse", "incparse_neural"]):
        assert trees([combined(TEXT)]) == expected


def test_a_saved_pipeline_gives_the_same_trees(combined, tmp_path):
    combined.get_pipe("incparse_combiner").search = {"threshold": 0.3}
    expected = trees([combined(TEXT)])
    combined.get_pipe("incparse_combiner").cfg["temperature"] = 0.7
    combined.config["components"]["incparse_combiner"]["search"] = {"threshold": 0.3}
    combined.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert trees([again(TEXT)]) == expected
    assert again.get_pipe("incparse_combiner").decoder.temperature == pytest.approx(0.7)
    assert trees([pickle.loads(pickle.dumps(combined))(TEXT)]) == expected
    assert trees([spacy.blank("en").from_config(again.config).from_bytes(again.to_bytes())(TEXT)]) == expected


def test_confidences_and_lists_come_from_the_combination(combined):
    found = list(TreebankReader(ASSETS / "sample-dev.mrg", limit=40)(combined))
    for example in found:
        example.predicted = combined(example.predicted)
    assert combined.get_pipe("incparse_combiner").calibrate(found) > 0
    doc = combined(TEXT)
    tree = doc._.trees[0]
    assert 0 < tree.confidence <= 1
    assert all(0.45 < node.confidence <= 1 for node in tree.phrases()[1:])
    assert str(doc._.parses(5)[0][0].tree) == str(tree)


def test_mistakes_are_reported(pair):
    with pytest.raises(ConfigError, match="must name two components or more"):
        pair.add_pipe("incparse_combiner", config={"members": {"incparse": 1.0}})
    pair.add_pipe("incparse_combiner", first=True)
    with pytest.raises(IncparseError, match="nothing to combine: there must be two parsers before it"):
        pair("It rained.")
    pair.remove_pipe("incparse_combiner")
    with pytest.raises(ConfigError, match="the weight of incparse"):
        pair.add_pipe("incparse_combiner", config={"members": {"incparse": 0.0, "incparse_neural": 1.0}})
    with pytest.raises(ConfigError, match="'beam_size' is not a search setting"):
        pair.add_pipe("incparse_combiner", config={"search": {"beam_size": 3}})
    pair.add_pipe("incparse_combiner", config={"members": {"incparse": 1.0, "other": 1.0}})
    with pytest.raises(IncparseError, match="has the member 'other', but there is no parser of this name before it"):
        pair("It rained.")


def test_the_last_component_gives_the_lists_too(combined):
    doc, combiner = combined(TEXT), combined.get_pipe("incparse_combiner")
    for found, sentence in zip(doc._.parses(3, nlp=combined), combiner.sentences_of(doc), strict=True):
        assert [one.tree for one in found] == [one.tree for one in combiner.nbest_parses(sentence, 3)]
    sentences = list(parse_texts(combined, [TEXT], nbest=3))
    assert [str(one.parses[0].tree) for one in sentences] == trees([doc])[0]


def test_given_tags_reach_the_members(combined, tmp_path):
    combined.to_disk(tmp_path)
    words, tags = ["The", "cat", "slept", "."], ["DT", "NNS", "VBD", "."]
    assert Parser(tmp_path).parse(words, tags).tags == tuple(tags)
    assert Parser(tmp_path).parse(words).tags != tuple(tags)


def test_weights_belong_to_the_names_in_the_pipeline(combined):
    combiner = combined.get_pipe("incparse_combiner")
    combiner.members = {"incparse": 2.0, "incparse_neural": 1.0}
    combined.rename_pipe("incparse", "fast")
    combiner.members = {"fast": 2.0, "incparse_neural": 1.0}
    assert combiner.decoder.parser._members[0].weight == 2.0
    combiner.members = {"fast": 1.0, "incparse_neural": 1.0}  # also after the first text
    assert combiner.decoder.parser._members[0].weight == 1.0


def test_other_analyses_without_what_comes_behind_the_parser(combined):
    """Components that work with trees have none when only the analyses are wanted, and must not warn of that."""
    combined.add_pipe("incparse_phrases")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = list(parse_texts(combined, [TEXT], nbest=2))
    assert [len(sentence.parses) for sentence in found] == [2, 2]


def test_given_trees_are_scored_under_their_own_tags(combined):
    """`score-trees --tags gold`: the trees are scored, and the best ones found, under the trees' own tags."""
    text = "(TOP (S (NP (DT The) (NN letters)) (VP (VBD slept) (NP (NNS cats))) (. .)))"
    tree = Tree.from_string(text)
    component = combined.get_pipe("incparse_combiner")
    for gold_tags in (False, True):
        (found,) = score_given_trees(combined, component, [(1, tree)], gold_tags=gold_tags)
        assert (found.best.tree.tags == tree.tags) == gold_tags
