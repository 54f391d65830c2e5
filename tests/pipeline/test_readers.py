import pytest
import spacy
from spacy.tokens import DocBin

import spacy_incparse
from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.errors import ConfigError, IncparseError, TreebankError
from spacy_incparse.pipeline.registered import TreebankReader, create_treebank_reader, read_docbin
from spacy_incparse.treebanks.reader import parse_bracketed

NLP = spacy.blank("en")
RAW = """
( (S (NP-SBJ-1 (DT The) (NN owl)) (VP (VBZ does) (RB n't) (VP (VB sleep) (NP (-NONE- *-1)))) (. .)) )
( (S (NP-SBJ (NNS Mice)) (VP (VBD ran)) (. .)) )
( (NP (NN Weather)) )
"""
TREES = [
    "(TOP (S (NP (DT The) (NN owl)) (VP (VBZ does) (RB n't) (VP (VB sleep))) (. .)))",
    "(TOP (S (NP (NNS Mice)) (VP (VBD ran)) (. .)))",
    "(TOP (NP (NN Weather)))",
]


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "train.mrg"
    path.write_text(RAW, encoding="utf-8")
    return path


@pytest.fixture
def docbin(tmp_path):
    path = tmp_path / "train.spacy"
    trees = [next(iter(parse_bracketed(text))) for text in TREES]
    DocBin(docs=trees_to_docs(trees, NLP.vocab, n_sents=2), store_user_data=True).to_disk(path)
    return path


def trees_of(examples):
    return [str(tree) for example in examples for tree in example.reference._.trees]


def test_bracket_files_give_a_normalised_tree_an_example(treebank):
    examples = list(TreebankReader(treebank)(NLP))
    assert trees_of(examples) == TREES
    assert [len(example.predicted) for example in examples] == [6, 3, 1]
    assert [token.tag_ for token in examples[1].reference] == ["NNS", "VBD", "."]
    assert all(example.predicted._.trees == () for example in examples)
    assert trees_of(TreebankReader(treebank.parent)(NLP)) == TREES


def test_docbins_give_their_docs(docbin):
    examples = list(TreebankReader(docbin)(NLP))
    assert trees_of(examples) == TREES
    assert [len(example.predicted) for example in examples] == [9, 1]
    assert trees_of(TreebankReader(docbin.parent)(NLP)) == TREES


def test_limit(treebank, docbin):
    assert trees_of(TreebankReader(treebank, limit=2)(NLP)) == TREES[:2]
    assert trees_of(TreebankReader(docbin, limit=1)(NLP)) == TREES[:2]


def test_max_length_leaves_long_sentences_out(treebank, docbin):
    for path in (treebank, docbin):
        examples = list(TreebankReader(path, max_length=3)(NLP))
        assert trees_of(examples) == TREES[1:]
        assert [example.predicted.text.split() for example in examples] == [["Mice", "ran", "."], ["Weather"]]


def test_natural_spacing_lets_the_tokenizer_work(treebank):
    example = next(iter(TreebankReader(treebank, natural_spacing=True)(NLP)))
    assert example.reference.text == "The owl doesn't sleep."
    assert example.predicted.text == example.reference.text


def test_bad_trees_are_errors_or_skipped_with_a_warning(tmp_path):
    path = tmp_path / "bad.mrg"
    path.write_text("( (NP (NN Owl)) )\n( (NP (NN) (NN Mouse)) )\n( (NP (NN Cat)) )\n", encoding="utf-8")
    with pytest.raises(TreebankError, match=r"bad\.mrg:2:"):
        list(TreebankReader(path)(NLP))
    reader = TreebankReader(path, skip_bad=True)
    with pytest.warns(UserWarning, match="bad.mrg"):
        examples = list(reader(NLP))
    assert trees_of(examples) == ["(TOP (NP (NN Owl)))", "(TOP (NP (NN Cat)))"]


def test_a_docbin_that_lost_its_trees_is_told(tmp_path):
    path = tmp_path / "bare.spacy"
    trees = [next(iter(parse_bracketed(text))) for text in TREES]
    DocBin(docs=trees_to_docs(trees, NLP.vocab)).to_disk(path)
    with pytest.raises(IncparseError, match="store_user_data=True"):
        list(TreebankReader(path)(NLP))


def test_a_missing_path_is_told():
    with pytest.raises(ConfigError, match=r"--paths\.train"):
        create_treebank_reader(None)
    with pytest.raises(ConfigError, match=r"--paths\.train"):
        TreebankReader(None)


@pytest.mark.parametrize(("name", "value"), [("limit", -1), ("limit", "x"), ("max_length", 1.5)])
def test_wrong_limits_are_told(name, value):
    with pytest.raises(ConfigError, match=f"{name} is {value!r}: it must be"):
        TreebankReader("x.mrg", **{name: value})


def test_brackets_without_tags_are_read_on_request(tmp_path):
    path = tmp_path / "untagged.mrg"
    path.write_text("(S (NP the owl) (VP slept))", encoding="utf8")
    (example,) = create_treebank_reader(path, tags=False)(NLP)
    assert trees_of([example]) == ["(TOP (S (NP (X the) (X owl)) (VP (X slept))))"]
    with pytest.raises(TreebankError, match="the node NP has 2 words"):
        list(create_treebank_reader(path)(NLP))


def test_functions_behind_other_characters_go_on_request(tmp_path):
    path = tmp_path / "functions.mrg"
    path.write_text("(S (NP_SB (NN rain)) (VP (VBZ falls)))", encoding="utf8")
    for separators, label in ((None, "NP_SB"), ("_", "NP")):
        (example,) = create_treebank_reader(path, separators=separators)(NLP)
        assert trees_of([example]) == [f"(TOP (S ({label} (NN rain)) (VP (VBZ falls))))"]


def test_docs_of_whitespace_have_no_trees_to_lose(tmp_path):
    path = tmp_path / "blank.spacy"
    DocBin(docs=[NLP(" "), NLP("")], store_user_data=True).to_disk(path)
    assert [len(doc) for doc in read_docbin(path, NLP.vocab)] == [1, 0]


def test_docs_without_sentence_boundaries_are_one_sentence(tmp_path):
    path = tmp_path / "whole.spacy"
    nlp = spacy_incparse.load("en", exclude=["senter"])
    with pytest.warns(UserWarning, match="without sentence boundaries"):
        DocBin(docs=[nlp("The owl slept.")], store_user_data=True).to_disk(path)
    for max_length, n in ((0, 1), (4, 1), (3, 0)):
        assert len(list(TreebankReader(path, max_length=max_length)(NLP))) == n
