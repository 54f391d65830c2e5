import warnings

import pytest
import spacy

from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.errors import ConfigError, PatternError
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.tree import Tree

ANN = """(TOP (S (NP (NNP Ann)) (VP (MD will) (VP (VB give) (NP (PRP him)) (NP (NP (DT a) (NN book)) (PP (IN on) (NP
(NNS owls)))) (PP (IN in) (NP (NNP May))) (SBAR (IN if) (S (NP (PRP he)) (VP (VBZ is) (ADJP (JJ good))))))) (. .)))"""
BOTH = "(TOP (S (NP (PRP They)) (VP (VP (VBD got) (PRT (RP up))) (CC and) (VP (VBD left) (NP (DT the) (NN house))))))"


def docs(*texts, nlp=None):
    trees = [tree for text in texts for tree in parse_bracketed(text)]
    return next(trees_to_docs(trees, (nlp or spacy.blank("en")).vocab, natural_spacing=True, n_sents=len(trees)))


def groups(*texts, **config):
    nlp = spacy.blank("en")
    component = nlp.add_pipe("incparse_phrases", config=config)
    doc = component(docs(*texts, nlp=nlp))
    return {key: [(span.label_, span.text, span.id_) for span in group] for key, group in doc.spans.items()}


def phrases(*texts, **config):
    return {key: [text for _, text, _ in group] for key, group in groups(*texts, **config).items()}


def test_noun_phrases_outermost_or_innermost():
    assert phrases(ANN)["noun_phrases"] == ["Ann", "him", "a book on owls", "May", "he"]
    assert phrases(ANN, noun_phrases="innermost")["noun_phrases"] == ["Ann", "him", "a book", "owls", "May", "he"]
    assert len(phrases(ANN, noun_phrases="all")["noun_phrases"]) == 7
    assert "noun_phrases" not in phrases(ANN, noun_phrases=None)


def test_clauses():
    whole = "Ann will give him a book on owls in May if he is good."
    assert groups(ANN)["clauses"] == [("S", whole, "1"), ("SBAR", "if he is good", "2")]
    assert phrases(ANN, clauses="innermost")["clauses"] == ["if he is good"]


def test_words_are_no_phrases():
    text = "(TOP (S (NP (DT the) (NN NP)) (VP (VBZ is) (NP (NNP S))) (. .)))"
    assert groups(text)["clauses"] == [("S", "the NP is S.", "1")]
    for kind in ("all", "innermost"):
        assert phrases(text, noun_phrases=kind)["noun_phrases"] == ["the NP", "S"]


def test_verb_phrases_with_arguments():
    give = "give him a book on owls in May if he is good"
    assert groups(ANN, BOTH)["verb_phrases"] == [
        ("VP", give, "1"), ("subject", "Ann", "1"), ("verb", "give", "1"), ("indirect_object", "him", "1"),
        ("object", "a book on owls", "1"), ("prepositional_phrase", "in May", "1"), ("clause", "if he is good", "1"),
        ("VP", "is good", "2"), ("subject", "he", "2"), ("verb", "is", "2"), ("predicate", "good", "2"),
        ("VP", "got up", "3"), ("subject", "They", "3"), ("verb", "got", "3"), ("particle", "up", "3"),
        ("VP", "left the house", "4"), ("subject", "They", "4"), ("verb", "left", "4"), ("object", "the house", "4"),
    ]  # fmt: skip


def test_functions_and_empty_categories_say_the_arguments():
    text = "(TOP (S (NP-SBJ-1 (NNP Ann)) (VP (VBD was) (VP (VBN sold) (NP (-NONE- *-1)) (NP (DT a) (NN map)))) (. .)))"
    annotated = next(trees_to_docs([Tree.from_string(text).remove_empties()], spacy.blank("en").vocab))
    for functions, names in ((True, {"object", "indirect_object"}), (False, {"subject", "object"})):
        doc = annotated.copy()
        if not functions:
            doc._.trees = [annotated._.trees[0].strip_functions()]
        found = spacy.blank("en").add_pipe("incparse_phrases")(doc).spans["verb_phrases"]
        assert {span.label_ for span in found} == {"VP", "verb", *names}


def test_patterns_of_ones_own():
    give = "give him a book on owls in May if he is good"
    patterns = {
        "modals": "MD=modal $+ VP=main",
        "nouns": ["NN", "/^NN/ < owls"],
        "modified": {"patterns": ["NP < PP", "{noun_phrase} < DT"], "nested": "outermost", "label": "MODIFIED"},
    }
    found = groups(ANN, patterns=patterns, noun_phrases=None, clauses=None, verb_phrases=None)
    assert found == {
        "modals": [("MD", "will", "1"), ("modal", "will", "1"), ("main", give, "1")],
        "nouns": [("NN", "book", "1"), ("NNS", "owls", "2")],
        "modified": [("MODIFIED", "a book on owls", "1")],
    }
    assert groups(ANN, patterns={"clauses": "SBAR"})["clauses"] == [("SBAR", "if he is good", "1")]


def test_labels_of_other_treebanks():
    german = "(TOP (S (CNP (NP (NE Anna)) (KON und) (NP (NE Ben))) (VVFIN essen) (NP (NN Obst))))"
    labels = {"noun_phrase": "NP|CNP", "clause": "S|CS", "complete_clause": "", "verb_phrase": "S", "verb": "/^V/"}
    found = phrases(german, labels=labels)
    assert found["noun_phrases"] == ["Anna und Ben", "Obst"]
    assert found["clauses"] == []
    found = phrases(german, labels=labels, patterns={"clauses": "{clause}"})
    assert found["clauses"] == ["Anna und Ben essen Obst"]
    assert found["verb_phrases"][0] == "Anna und Ben essen Obst"


@pytest.mark.parametrize(
    ("config", "error", "what"),
    [
        ({"noun_phrases": "some"}, ConfigError, "nested is 'some'"),
        ({"labels": {"nouns": "NN"}}, ConfigError, "unknown name 'nouns' in labels; the names are noun_phrase, "),
        ({"patterns": {"x": "NP <"}}, PatternError, "column 5"),
        ({"patterns": {"x": []}}, ConfigError, "patterns are missing"),
        ({"patterns": {"x": 3}}, ConfigError, "patterns are missing or not strings"),
        ({"patterns": {"x": {"pattern": "NP"}}}, ConfigError, "unknown 'pattern'"),
        ({"labels": {"noun_phrase": "(NP"}}, PatternError, "column"),
    ],
)
def test_wrong_settings(config, error, what):
    with pytest.raises(error, match=what):
        spacy.blank("en").add_pipe("incparse_phrases", config=config)


def test_no_trees():
    nlp = spacy.blank("en")
    nlp.add_pipe("incparse_phrases")
    with pytest.warns(
        UserWarning, match="incparse_phrases: a Doc has no trees: add the component 'incparse' before this one"
    ):
        doc = nlp("Some words.")
    assert {key: len(group) for key, group in doc.spans.items()} == {
        "noun_phrases": 0, "clauses": 0, "verb_phrases": 0,
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp("Once is enough.")
        nlp("")


def test_in_a_pipeline(trained, tmp_path):
    nlp = trained.from_bytes(trained.to_bytes())
    nlp.add_pipe("incparse_phrases", config={"patterns": {"determiners": "DT"}})
    nlp.to_disk(tmp_path / "with-phrases")
    loaded = spacy.load(tmp_path / "with-phrases")
    texts = ["The old dog barked.", "She gave the boy a red apple."]
    for expected, doc in zip(nlp.pipe(texts), loaded.pipe(texts, n_process=2), strict=True):
        assert [span.text for span in doc.spans["determiners"]]
        for key in ("noun_phrases", "clauses", "verb_phrases", "determiners"):
            found, wanted = doc.spans[key], expected.spans[key]
            assert [(s.text, s.label_, s.id_) for s in found] == [(s.text, s.label_, s.id_) for s in wanted]
    assert not any(nlp.analyze_pipes()["problems"].values())
