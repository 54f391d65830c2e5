from pathlib import Path

import pytest

from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.generative.kind import PERCEPTRON
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.incremental.parser import PerceptronParser
from spacy_incparse.linear.templates import CLUSTERS, combine, resolve
from spacy_incparse.linear.words import GROUP_LENGTH, Clusters, Lexicon, read_clusters
from spacy_incparse.training.preparation import TrainingTask
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.heads import HeadRules
from tests.reference.engine import teach
from tests.training_runs import check_resumed, train

FILE = Path(__file__).parents[1] / "data" / "clusters.txt"
TEXT = """
(TOP (S (NP (DT the) (JJ old) (NN dog)) (VP (VBD saw) (NP (NP (DT a) (NN cat)) (PP (IN in) (NP (NNP Oslo))))) (. .)))
(TOP (S (NP (PRP She)) (VP (VBD won) (NP (NP (DT the) (NN race)) (PP (IN of) (NP (NNP Norway))))) (. .)))
(TOP (S (NP (PRP He)) (VP (VBD fed) (NP (DT the) (JJ young) (NN cat)) (PP (IN in) (NP (NNP Norway)))) (. .)))
(TOP (S (NP (DT a) (NN horse)) (VP (VBD saw) (NP (PRP She))) (. .)))
"""
TREES = list(parse_bracketed(TEXT))
SETTINGS = {"table_bits": 12, "features": "rich"}
UNSEEN = ["The", "long", "match", "of", "Sweden", "!"]


def config(**settings):
    return ParserConfig(**(SETTINGS | {"clusters": str(FILE)} | settings))


def learn(n_passes=3, **settings):
    found = config(**settings)
    prepared = TrainingTask(PERCEPTRON, TREES, found, HeadRules.from_name("en"), n_folds=2).prepare()
    teach(prepared.learner, TREES, n_passes, prepared.tags)
    return prepared


@pytest.fixture(scope="module")
def learnt():
    return learn()


def test_the_lexicon_numbers_clusters_and_their_groups():
    long, other = "0" * GROUP_LENGTH + "01", "0" * GROUP_LENGTH + "1"
    lexicon = Lexicon({}, clusters=Clusters.from_paths([("dog", long), ("cat", long), ("cow", other), ("of", "1")]))
    *_, clusters, groups = lexicon.encode(["dog", "cat", "cow", "Dog", "of", "mouse"])
    assert clusters[0] == clusters[1] == clusters[3] != clusters[2]
    assert groups[0] == groups[1] == groups[2] == groups[3] != groups[4]
    assert clusters[5] == groups[5] == 0
    assert 0 not in clusters[:5] + groups[:5]
    assert Lexicon({}).encode(["dog"])[2:] == ((0,), (0,))


def test_a_named_set_has_the_templates_of_clusters_with_clusters_only():
    joined = config().templates
    assert set(joined) == set(resolve(combine(CLUSTERS, {"node": ("L10",)}))) | set(resolve("rich"))
    assert ParserConfig(**SETTINGS).templates == resolve("rich")
    own = {"node": ("L10 LKP", "L10 K0")}
    assert config(features=own).templates == resolve(own)


def test_tagger_and_parser_have_the_clusters(learnt):
    assert learnt.tagger.clusters == learnt.learner.parser().clusters == read_clusters(FILE)
    plain = learn(1, clusters=None)
    parser = plain.learner.parser()
    assert plain.tagger.clusters is None is parser.clusters
    assert PerceptronParser.from_bytes(parser.to_bytes(), read_clusters(FILE)).clusters is None


def test_a_copy_needs_no_file(learnt):
    parser, tagger = learnt.learner.parser(), learnt.tagger
    copy, tags = PerceptronParser.from_bytes(parser.to_bytes()), tagger.tag(UNSEEN)
    assert (copy.clusters, copy.to_bytes()) == (parser.clusters, parser.to_bytes())
    assert copy.parse(UNSEEN, tags) == parser.parse(UNSEEN, tags)
    # They can be left to the tagger.
    small = parser.to_bytes(with_clusters=False)
    assert len(small) < len(parser.to_bytes())
    assert PerceptronParser.from_bytes(small, tagger.clusters).to_bytes() == parser.to_bytes()
    with pytest.raises(ModelError, match="word clusters are missing"):
        PerceptronParser.from_bytes(small)


@pytest.mark.parametrize("settings", [{}, {"n_models": 2, "n_tags": 3, "train_generative_weight": 5.0}])
def test_training_goes_on_where_it_stopped(tmp_path, settings):
    expected = train(TREES, config(**settings), max_epochs=3)
    check_resumed(tmp_path, TREES, config(**settings), expected, at="pass 2", max_epochs=3)


def test_training_does_not_go_on_with_other_clusters(tmp_path):
    own = tmp_path / "clusters.txt"
    own.write_text(FILE.read_text(encoding="utf8"), encoding="utf8")
    train(TREES, config(clusters=str(own)), tmp_path / "state", max_epochs=1)
    own.write_text("00\tcat\t9\n01\thorse\t5\n", encoding="utf8")
    with pytest.raises(IncparseError, match="belongs to a training with other trees or settings"):
        train(TREES, config(clusters=str(own)), tmp_path / "state", resume=True)
