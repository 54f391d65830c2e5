import pytest
import spacy
from spacy.scorer import Scorer

import spacy_incparse
from spacy_incparse.data import embedded_names, find_pipeline
from spacy_incparse.documents.gold import example_of, trees_to_docs
from spacy_incparse.treebanks.reader import read_treebank

TEXT = "The committee that met on Monday rejected the plan. Why did they?"


@pytest.fixture(scope="module")
def english():
    if "en" not in embedded_names():
        pytest.skip("this checkout has no embedded pipeline: spacy_incparse/data/en")
    return spacy_incparse.load("en")


def test_it_parses(english):
    trees = english(TEXT)._.trees
    assert [tree.words[-1] for tree in trees] == [".", "?"]
    assert [tree.label for tree in trees] == ["TOP", "TOP"]
    assert {"S", "NP", "VP"} <= {label for tree in trees for label, _, _ in tree.spans()}


def test_its_weights_serve_in_other_pipelines(english, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("incparse", config={"model": "en"})
    expected = english.get_pipe("incparse").model
    assert nlp.get_pipe("incparse").labels == expected.labels
    assert nlp(TEXT)._.trees
    nlp.to_disk(tmp_path)
    assert spacy.load(tmp_path).get_pipe("incparse").model.to_bytes() == expected.to_bytes()


def test_it_is_small(english):
    files = [path for path in find_pipeline("en").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 10_000_000


def test_the_accurate_one_parses():
    nlp = spacy_incparse.load("en_accurate")
    doc = nlp(TEXT)
    assert [tree.words[-1] for tree in doc._.trees] == [".", "?"]
    assert all(token.tag_ for token in doc)
    config = nlp.get_pipe("incparse").model.parser.config
    assert config.is_hybrid
    assert config.n_tags == 3
    assert 0 < doc._.trees[0].confidence < 1


def test_the_neural_one_parses():
    nlp = spacy_incparse.load("en_neural")
    doc = nlp(TEXT)
    assert [tree.words[-1] for tree in doc._.trees] == [".", "?"]
    assert all(token.tag_ for token in doc)
    assert 0 < doc._.trees[0].confidence < 1


def test_the_neural_one_is_a_component_like_others(tmp_path):
    source = spacy_incparse.load("en_neural")
    texts = [TEXT, "", "Yes.", "Who did you say was coming? " * 30]
    expected = [doc._.trees for doc in source.pipe(texts, batch_size=1)]
    nlp = spacy.blank("en")
    nlp.tokenizer = source.tokenizer
    nlp.add_pipe("senter", source=source)
    nlp.add_pipe("incparse_neural", source=source)
    assert [doc._.trees for doc in nlp.pipe(texts, batch_size=4)] == expected
    nlp.to_disk(tmp_path)
    assert [doc._.trees for doc in spacy.load(tmp_path).pipe(texts, n_process=2, batch_size=2)] == expected


def test_the_generative_one_has_measures():
    nlp = spacy_incparse.load("en_generative")
    doc = nlp(TEXT)
    assert [tree.words[-1] for tree in doc._.trees] == [".", "?"]
    for sentence in doc.sents:
        assert sum(token._.incparse.surprisal for token in sentence) == pytest.approx(
            -sentence[-1]._.incparse.prefix_logprob, abs=1e-4
        )
    assert doc[3]._.incparse.flag == ""


@pytest.mark.parametrize("name", embedded_names())
def test_noun_chunks_are_those_of_the_trees_and_the_licence_is_stated(name):
    nlp = spacy_incparse.load(name)
    assert nlp.meta["license"]
    doc = nlp("The old owl saw three mice in the farmer's barn. She ate them.")
    chunks = ["The old owl", "three mice", "the farmer's barn", "She", "them"]
    assert [chunk.text for chunk in doc.noun_chunks] == chunks


def test_nonwords_are_more_surprising_than_rare_words():
    parser = spacy_incparse.load("en_generative").get_pipe("incparse")
    found = [parser.start().push("The").push(word).measures().surprisal for word in ("detective", "bleach", "flurbish")]
    assert found == sorted(found)
    assert found[2] > found[0] + 5


PENN_WORDS = [
    ("A well-known, non-U.S. (or '90s) firm", "A well-known , non-U.S. ( or '90s ) firm"),
    ("from 1990-95, in ’99", "from 1990-95 , in ’99"),
    ("Lt. Col. Gray et al., etc.", "Lt. Col. Gray et al. , etc."),
    ("'Tis what I wanna see: gimme that!", "'T is what I wan na see : gim me that !"),
    ("pre- and post-war--or not", "pre- and post-war -- or not"),
    ("I cannot; she's 5p.m.", "I can not ; she 's 5 p.m."),
    ("north–south, either/or, 2+2", "north – south , either / or , 2 + 2"),
    ("write to a-b@c-d.org", "write to a-b@c-d.org"),
]


@pytest.mark.parametrize("name", embedded_names())
def test_words_are_those_of_the_penn_treebank(name):
    tokenizer = spacy_incparse.load(name, exclude=["incparse"]).tokenizer
    assert [[token.text for token in tokenizer(text)] for text, _ in PENN_WORDS] == [
        words.split() for _, words in PENN_WORDS
    ]


def test_tokens_of_raw_newspaper_text(treebanks):
    nlp = spacy_incparse.load("en", exclude=["incparse"])
    docs = trees_to_docs(read_treebank(treebanks / "wsj" / "dev.mrg"), nlp.vocab, natural_spacing=True)
    scores = Scorer.score_tokenization([example_of(nlp, doc, tokenize=True) for doc in docs])
    assert scores["token_f"] >= 0.985
