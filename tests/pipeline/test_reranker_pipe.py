import pickle
import warnings
from dataclasses import replace

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

import spacy_incparse
from spacy_incparse.cli.parse import parse_texts
from spacy_incparse.documents.storage import anchored_trees
from spacy_incparse.errors import ConfigError, IncparseError, ModelError
from spacy_incparse.parsing.nbest import NBestSearch, probabilities
from spacy_incparse.pipeline.model import pack, unpack
from spacy_incparse.pipeline.registered import TreebankReader
from tests.small_pipeline import ASSETS, pipeline, untrained
from tests.small_reranker import lists_of, reranking_pipeline

TEXT = "The rain stopped before noon. Who left the gate open? She grows beans and peas behind the old garage."
TEXTS = [TEXT, "", "  ", "She grows beans (and peas)."] * 2


@pytest.fixture(scope="module")
def nlp(trained):
    """A pipeline with a parser and a trained reranker. Read only."""
    return reranking_pipeline(trained)


@pytest.fixture
def copy(nlp):
    """A copy that a test may change."""
    return pickle.loads(pickle.dumps(nlp))


def parser_of(nlp):
    return nlp.get_pipe("incparse")


def reranker_of(nlp):
    return nlp.get_pipe("incparse_reranker")


def trees(nlp, **options):
    return [[str(tree) for tree in doc._.trees] for doc in nlp.pipe(TEXTS, **options)]


def found(doc):
    return [(str(tree.tree), tree.score) for tree in anchored_trees(doc)]


def ranked(nlp, doc, *, with_better=False):
    """The reranked list of each sentence, by the slow way: list, scores, order."""
    parser, reranker = parser_of(nlp), reranker_of(nlp).model.learnt
    search = NBestSearch(parser.decoder.parser, with_better=with_better)
    for sentence in parser.sentences_of(doc):
        parses = search.analyses(*parser.input_of(sentence), n=reranker.config.n)
        scores = reranker.scores(parses, reranker.config.base_temperature or parser.decoder.temperature)
        shares = probabilities(scores, reranker.temperature)
        yield sorted(zip(scores, shares, [parse.tree for parse in parses], strict=True), key=lambda item: -item[0])


def test_the_most_probable_tree_is_on_the_doc_with_score_and_probability(nlp):
    doc = nlp(TEXT)
    for tree, expected in zip(doc._.trees, ranked(nlp, doc), strict=True):
        score, share, best = expected[0]
        assert tree == best
        assert tree.score == pytest.approx(score, rel=1e-5)
        assert tree.confidence == pytest.approx(share, rel=1e-5)


def test_the_analyses_are_in_their_new_order(nlp):
    doc = nlp(TEXT)
    for parses, expected in zip(doc._.parses(100), ranked(nlp, doc), strict=True):
        assert [parse.tree for parse in parses] == [tree for _, _, tree in expected]
        assert [parse.score for parse in parses] == pytest.approx([score for score, _, _ in expected], rel=1e-5)
        assert [parse.probability for parse in parses] == pytest.approx([share for _, share, _ in expected], rel=1e-4)
        assert sum(parse.probability for parse in parses) == pytest.approx(1)
    with_pipeline, without = doc._.parses(5, nlp=nlp), doc._.parses(5)
    assert [[one.tree for one in parses] for parses in with_pipeline] == [[one.tree for one in p] for p in without]


def test_the_lists_are_like_those_of_training(copy):
    parser_of(copy).search = {"beam_size": 2}
    component = reranker_of(copy)
    assert not component.model.learnt.config.with_better
    lists = lists_of(copy, with_better=True)
    assert any(one.has_better for one in lists)
    component.initialize(lambda: [], lists=lists)
    component.model.from_bytes(component.model.to_bytes())
    assert component.model.learnt.config.with_better
    assert parses_of(copy) == parses_by_hand(copy, with_better=True) != parses_by_hand(copy)
    bare = [replace(one, parses=tuple(p for p in one.parses if p.score <= one.parses[0].score)) for one in lists]
    component.initialize(lambda: [], lists=bare)
    assert not component.model.learnt.config.with_better
    assert parses_of(copy) == parses_by_hand(copy) != parses_by_hand(copy, with_better=True)


def test_the_scale_of_the_parsers_scores_is_that_of_the_lists(copy):
    component = reranker_of(copy)
    lists = [replace(one, temperature=float(1 + i)) for i, one in enumerate(lists_of(copy))]
    component.initialize(lambda: [], lists=lists)
    assert component.model.learnt.config.base_temperature == (1 + len(lists)) / 2
    expected = [found(doc) for doc in copy.pipe(TEXTS)]
    parser_of(copy).model.temperature = 1e4  # fitted on other trees: it changes nothing
    assert [found(doc) for doc in copy.pipe(TEXTS)] == expected
    reranker = component.model.learnt
    reranker.config = replace(reranker.config, base_temperature=None)  # as in models of the first versions
    component.model.learnt = reranker
    assert [found(doc) for doc in copy.pipe(TEXTS)] != expected
    assert parses_of(copy) == parses_by_hand(copy)


def dev_docs(nlp):
    return [example.predicted for example in TreebankReader(ASSETS / "sample-dev.mrg", limit=60)(nlp)]


def parses_of(nlp):
    return [[[one.tree for one in parses] for parses in doc._.parses(100)] for doc in nlp.pipe(dev_docs(nlp))]


def parses_by_hand(nlp, **options):
    return [[[tree for _, _, tree in row] for row in ranked(nlp, doc, **options)] for doc in dev_docs(nlp)]


def test_a_loaded_doc_has_the_analyses_too(nlp):
    doc = nlp(TEXT)
    loaded = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert loaded._.parses(4) == doc._.parses(4)
    assert [tree.confidence for tree in loaded._.trees] == [tree.confidence for tree in doc._.trees]
    assert loaded._.trees[0].phrases()[1].confidence == doc._.trees[0].phrases()[1].confidence


def test_other_ways_to_run(nlp, copy, trained):
    expected = trees(nlp)
    with nlp.select_pipes(disable=["incparse"]):  # the parser need not run
        assert trees(nlp) == expected
    with nlp.select_pipes(disable=["incparse_reranker"]):
        assert trees(nlp) == trees(trained) != expected
    assert trees(copy) == expected
    assert trees(nlp, batch_size=1) == expected
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert trees(nlp, n_process=2) == expected


def test_saved_and_loaded(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert trees(loaded) == trees(nlp)
    assert reranker_of(loaded).model.to_bytes() == reranker_of(nlp).model.to_bytes()
    other = untrained()
    other.add_pipe("incparse_reranker")
    assert trees(other.from_bytes(nlp.to_bytes())) == trees(nlp)


def test_tags_and_mirror_follow_the_chosen_tree(copy):
    parser = parser_of(copy)
    parser.set_tags, parser.spans_key = True, "phrases"
    doc = copy(TEXT)
    assert [token.tag_ for token in doc] == [tag for tree in doc._.trees for tag in tree.tags]
    spans = [(span.label_, span.text) for span in doc.spans["phrases"]]
    assert spans == [(node.label, node.span.text) for tree in doc._.trees for node in tree.phrases()[1:]]


def test_search_settings(copy):
    component = reranker_of(copy)
    component.search = {"n": 3, "choose": "expected_f"}
    assert all(len(parses) <= 3 for parses in copy(TEXT)._.parses(10))
    assert component.decoder.reranker.config.choose == "expected_f"
    with pytest.raises(ConfigError, match="n is 0: it must be at least 1"):
        component.search = {"n": 0}
    with pytest.raises(ConfigError, match="'beam_size' is not a setting of the reranker's search"):
        component.search = {"beam_size": 3}


def test_an_odd_sentence_keeps_the_parser_s_tree(copy, monkeypatch):
    component = reranker_of(copy)
    search = component.decoder.nbest_search
    ordinary = search.ranked

    def fails(words, tags, constraints=()):
        if "gate" in words:
            raise RuntimeError("something is wrong here")
        return ordinary(words, tags, constraints)

    with copy.select_pipes(disable=["incparse_reranker"]):
        before = found(copy(TEXT))
    expected = found(copy(TEXT))
    monkeypatch.setattr(search, "ranked", fails)
    with pytest.warns(UserWarning, match=r"keeps the parser's tree, because reranking failed .*'Who left the gate"):
        doc = copy(TEXT)
    assert found(doc) == [expected[0], before[1], expected[2]]
    copy(TEXT)  # warns only once


def test_lists_of_one_and_flat_trees_are_left_alone(copy, monkeypatch):
    base = parser_of(copy).decoder.nbest_search
    ordinary = base.analyses
    with copy.select_pipes(disable=["incparse_reranker"]):
        before = found(copy(TEXT))
    monkeypatch.setattr(base, "analyses", lambda *arguments, **more: ordinary(*arguments, **more)[:1])
    assert found(copy(TEXT)) == before


def test_without_a_parser_the_message_says_what_to_do(nlp):
    other = pipeline("incparse_reranker")
    component = reranker_of(other)
    component.model.from_bytes(reranker_of(nlp).model.to_bytes())
    with pytest.raises(IncparseError, match="has no parser whose trees it can rerank: there must be a component"):
        other("It rained.")
    other.add_pipe("incparse")  # behind it
    with pytest.raises(IncparseError, match="before it in the pipeline"):
        other("It rained.")
    assert component.labels == ()
    assert nlp("It rained.")._.parses(2)  # the other reranker is no obstacle


def test_a_parser_by_name(nlp, trained):
    other = spacy.blank("en")
    other.add_pipe("sentencizer")
    for name in ("first", "second"):
        other.add_pipe("incparse", name=name).model.from_bytes(parser_of(nlp).model.to_bytes())
    component = other.add_pipe("incparse_reranker", config={"parser": "first"})
    assert component.parser is other.get_pipe("first")
    component.parser_name = None
    assert component.parser is other.get_pipe("second")
    component.parser_name = "third"
    with pytest.raises(IncparseError, match="'third' with the factory 'incparse'"):
        _ = component.parser


def test_without_weights_the_message_says_what_to_do(trained):
    other = untrained().from_bytes(trained.to_bytes())
    other.add_pipe("incparse_reranker")
    with pytest.raises(IncparseError, match=r"no weights yet: train a pipeline with `spacy-incparse rerank-train`"):
        other("It rained.")
    with pytest.raises(IncparseError, match="has no n-best lists to learn from"):
        reranker_of(other).initialize(lambda: [])
    assert other.get_pipe("incparse_reranker").labels == parser_of(other).labels


def test_wrong_settings_of_training():
    other = spacy.blank("en")
    with pytest.raises(ConfigError, match="loss is 'hinge': it must be one of risk, log, boost"):
        other.add_pipe("incparse_reranker", config={"training": {"loss": "hinge"}})
    with pytest.raises(ConfigError, match="there is no setting 'los' of the reranker's training"):
        other.add_pipe("incparse_reranker", config={"training": {"los": "risk"}})


def test_calibrate_changes_only_probabilities(copy):
    before = trees(copy)
    examples = list(TreebankReader(ASSETS / "sample-dev.mrg", limit=10)(copy))
    component = reranker_of(copy)
    component.model.temperature = 1e5
    component.search = {}
    assert copy(TEXT)._.parses(2)[0][0].probability < 0.2
    assert component.calibrate(examples) == component.model.temperature < 1e5
    assert trees(copy) == before
    with pytest.warns(UserWarning, match="no example has a gold tree"):
        assert component.calibrate([]) is None


def with_reranker(data, function):
    parts = unpack(data)
    return pack(parts | {"reranker": function(parts["reranker"])})


def test_damaged_and_missing_weights_are_told(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    path = tmp_path / "incparse_reranker" / "model"
    data = path.read_bytes()
    junk, code = (with_reranker(data, lambda part, other=other: other) for other in (b"junk", pickle.dumps(print)))
    for damaged, message in ((data[:-1], "its checksum differs"), (junk, "not a reranker"), (code, "not a reranker")):
        path.write_bytes(damaged)
        with pytest.raises(ModelError, match=rf"incparse_reranker.model: .*{message}"):
            spacy_incparse.load(tmp_path)
    path.unlink()
    with pytest.raises(ModelError, match="incparse_reranker: the model is incomplete: 'model' is missing"):
        spacy.load(tmp_path)
    with pytest.raises(ModelError, match="has no component incparse_reranker"):
        spacy.blank("en").add_pipe("incparse_reranker", config={"model": "en"})


def test_sentences_without_a_choice_have_trees_also_without_the_parser(copy):
    parser_of(copy).search = {"beam_size": 1}
    reranker_of(copy).search = {"n": 1}
    expected = trees(copy)
    assert all(len(doc._.trees) == len(list(doc.sents)) for doc in copy.pipe([TEXT]))
    with copy.select_pipes(disable=["incparse"]):
        assert trees(copy) == expected


@Language.component("cloud_phrase")
def cloud_phrase(doc):
    """Ask for a phrase that the parser would not find."""
    doc.spans["must"] = [Span(doc, 1, 4, label="NP")]
    return doc


def test_lists_of_the_command_have_the_constraints_of_the_parser_that_is_reranked(trained):
    nlp = reranking_pipeline(trained, parser="incparse")
    nlp.add_pipe("cloud_phrase", before="incparse")
    nlp.get_pipe("incparse").required_key = "must"
    nlp.add_pipe(
        "incparse", name="second", source=untrained().from_bytes(trained.to_bytes()), before="incparse_reranker"
    )
    text = "The rain stopped before noon."
    (tree,) = nlp(text)._.trees
    assert "NP" in {node.label for node in tree.phrases() if (node.start, node.end) == (1, 4)}
    (sentence,) = parse_texts(nlp, [text], nbest=2)
    assert str(sentence.parses[0].tree) == str(tree)


def test_parsed_again_with_other_sentences_and_without_the_parser(copy):
    """Trees of sentences that are no longer there must go, whoever puts the trees on the Doc."""
    found = []
    for disabled in ([], ["incparse"]):
        with copy.select_pipes(disable=disabled):
            doc = copy("The rain stopped before noon. The old cat slept.")
            doc[3].is_sent_start = True
            found.append([(str(tree), span.text) for tree, span in zip(copy(doc)._.trees, doc.sents, strict=True)])
    assert len(found[0]) == 3
    assert found[0] == found[1]


def test_what_is_no_list_and_no_search(copy):
    with pytest.raises(IncparseError, match="is no CandidateList"):
        reranker_of(copy).initialize(list, lists=["fold-001.jsonl.gz"])
    for search in ({"choose": None}, None, "abc"):
        with pytest.raises(ConfigError, match="it must be a dict of settings and their values"):
            reranker_of(copy).search = search
