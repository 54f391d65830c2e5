import pickle

import pytest
import spacy
from spacy.tokens import Doc, Span, Token
from spacy.vocab import Vocab

from spacy_incparse.documents.extensions import doc_trees
from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.documents.matcher import ConstituentMatcher
from spacy_incparse.documents.storage import write_tree
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.patterns import PatternError, compile
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.codec import encode
from spacy_incparse.trees.tree import Tree

TREES = """(TOP (S (NP (NP (DT the) (NN cat)) (PP (IN on) (NP (DT the) (NN mat)))) (VP (VBD slept)) (. .)))
(TOP (S (NP (NNP Ann)) (VP (VBD saw) (NP (NP (DT a) (NN roof)) (PP (IN of) (NP (NN straw))))) (. .)))"""


@pytest.fixture
def doc() -> Doc:
    trees = list(parse_bracketed(TREES))
    return next(trees_to_docs(trees, spacy.blank("en").vocab, natural_spacing=True, n_sents=2))


@pytest.fixture
def matcher(doc) -> ConstituentMatcher:
    matcher = ConstituentMatcher(doc.vocab)
    matcher.add("MODIFIED", ["NP < (NP=head $+ (PP=modifier < (NP=inner)))"])
    matcher.add("NOUN", ["NN", "NNP"])
    return matcher


def texts(matches):
    return [(match.span.label_, match.span.text) for match in matches]


def test_matches_are_triples_in_the_order_of_the_text(doc, matcher):
    modified, noun = doc.vocab.strings["MODIFIED"], doc.vocab.strings["NOUN"]
    assert matcher(doc) == [
        (modified, 0, 5), (noun, 1, 2), (noun, 4, 5), (noun, 7, 8), (modified, 9, 13), (noun, 10, 11), (noun, 12, 13),
    ]  # fmt: skip
    for match_id, start, end in matcher(doc):
        assert doc.vocab.strings[match_id] in matcher
        assert 0 <= start < end <= len(doc)


def test_matches_have_spans_nodes_and_groups(doc, matcher):
    match = matcher(doc)[4]
    assert isinstance(match.span, Span)
    assert (match.span.text, match.span.label_) == ("a roof of straw", "MODIFIED")
    assert (match.node.span.start, match.node.span.end) == (9, 13)
    assert {name: (span.text, span.label_) for name, span in match.groups.items()} == {
        "head": ("a roof", "NP"),
        "modifier": ("of straw", "PP"),
        "inner": ("straw", "NP"),
    }


def test_as_spans(doc, matcher):
    spans = matcher(doc, as_spans=True)
    assert [(span.text, span.label_) for span in spans][:2] == [("the cat on the mat", "MODIFIED"), ("cat", "NOUN")]
    twice = ConstituentMatcher(doc.vocab)
    twice.add("X", ["NP < straw", "NP", "NN"])
    assert [span.text for span in twice(doc[12:13], as_spans=True)] == ["straw"]
    assert [match.node.label for match in twice(doc[12:13])] == ["NP", "NN"]


def test_rules_come_and_go(doc, matcher):
    assert (len(matcher), "NOUN" in matcher, doc.vocab.strings["NOUN"] in matcher) == (2, True, True)
    assert matcher.get("NOUN") == (None, ["NN", "NNP"])
    assert (matcher.get("OTHER"), matcher.get("OTHER", 1)) == (None, 1)
    matcher.add("NOUN", compile("DT"), on_match=print)
    assert matcher.get("NOUN") == (print, ["NN", "NNP", "DT"])
    matcher.remove("NOUN")
    assert (len(matcher), "NOUN" in matcher) == (1, False)
    with pytest.raises(ValueError, match="no rule 'NOUN'"):
        matcher.remove("NOUN")
    assert texts(matcher(doc)) == [("MODIFIED", "the cat on the mat"), ("MODIFIED", "a roof of straw")]


def test_on_match_is_called_for_each_match_with_all_of_them(doc):
    calls = []
    matcher = ConstituentMatcher(doc.vocab)
    matcher.add("PP", "PP", on_match=lambda *arguments: calls.append(arguments))
    matcher.add("VP", "VP")
    matches = matcher(doc)
    assert calls == [(matcher, doc, 0, matches), (matcher, doc, 3, matches)]
    assert matches[3].span.text == "of straw"
    raw = ConstituentMatcher(doc.vocab, raw_labels=True, heads="any")
    raw.add("X", ["NP <# NP", "/^[A-Z]/ > NNP"])  # words are matched too
    assert texts(pickle.loads(pickle.dumps(raw))(doc))[1:] == [("X", "Ann"), ("X", "a roof of straw")]


@pytest.mark.parametrize(
    ("nested", "expected"),
    [
        ("all", ["the cat on the mat", "the cat", "the mat", "Ann", "a roof of straw", "a roof", "straw"]),
        ("outermost", ["the cat on the mat", "Ann", "a roof of straw"]),
        ("innermost", ["the cat", "the mat", "Ann", "a roof", "straw"]),
    ],
)
def test_nested_matches(doc, nested, expected):
    matcher = ConstituentMatcher(doc.vocab)
    matcher.add("NP", ["NP"], nested=nested)
    assert [span.text for span in matcher(doc, as_spans=True)] == expected


def test_every_way_to_give_names(doc):
    matcher = ConstituentMatcher(doc.vocab)
    matcher.add("ONCE", "S << NN=noun")
    matcher.add("EVERY", "S << NN=noun", every=True)
    found = [(match.span.label_, match.groups["noun"].text) for match in matcher(doc)]
    first, second = [("ONCE", "cat"), ("EVERY", "cat"), ("EVERY", "mat")], [("ONCE", "roof"), ("EVERY", "roof")]
    assert found == [*first, *second, ("EVERY", "straw")]


def test_on_a_span(doc, matcher):
    span = doc[8:14]
    assert [(start, end) for _, start, end in matcher(span)] == [(1, 5), (2, 3), (4, 5)]
    assert [match.span.text for match in matcher(span)] == ["a roof of straw", "roof", "straw"]
    assert [span[start:end].text for _, start, end in matcher(span)] == ["a roof of straw", "roof", "straw"]
    assert matcher(doc[0:0]) == []


def test_a_doc_without_trees(matcher):
    with pytest.raises(IncparseError, match="the Doc has no trees to search"):
        matcher(Doc(matcher.vocab, words=["a", "b"]))
    assert matcher(Doc(matcher.vocab)) == []
    assert matcher(Doc(matcher.vocab, words=[" \n"])) == []
    with pytest.raises(IncparseError, match="searches a parsed Doc or Span, not "):
        matcher("a text")


def test_merged_tokens(doc, matcher):
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[4:6])  # "mat slept"
    assert texts(matcher(doc))[:2] == [("NOUN", "cat"), ("NOUN", "Ann")]


def test_wrong_rules(matcher):
    with pytest.raises(PatternError, match="column 5"):
        matcher.add("X", ["NP <"])
    with pytest.raises(ConfigError, match="nested is 'some': it must be one of all, outermost, innermost"):
        matcher.add("X", ["NP"], nested="some")
    with pytest.raises(ConfigError, match="no pattern is given for 'X'"):
        matcher.add("X", [])
    assert "X" not in matcher
    with pytest.raises(ConfigError, match="the patterns of 'x' must be strings"):
        matcher.add("x", [[{"LOWER": "x"}]])


@pytest.fixture
def annotated(doc) -> Doc:
    """The Doc with lemmas, parts of speech, features, an entity and an attribute of its tokens."""
    Token.set_extension("rank", default=None, force=True)
    for token in doc:
        token.lemma_, token.pos_ = {"slept": "sleep", "saw": "see"}.get(token.text, token.text), "X"
    doc[5].pos_ = doc[8].pos_ = "VERB"
    doc[8].set_morph("Number=Sing|Tense=Past")
    doc.ents = [Span(doc, 7, 8, "PERSON")]
    doc[4]._.rank = 3
    return doc


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("VP <<# {LEMMA:see}", ["saw a roof of straw"]),
        ("{LEMMA:sleep|see & POS:VERB}", ["slept", "saw"]),
        ("VP < (VBD < !{LEMMA:see})", ["slept"]),
        ('VBD < {MORPH:"Tense=Past"}', ["saw"]),
        ('VBD < {MORPH:"Tense=Pa"}', []),
        ("NP < (NNP < {ENT_TYPE:PERSON & IS_TITLE}=name)", ["Ann"]),
        ("NN < {!_.rank:3 & SHAPE:/^x+$/}", ["cat", "roof", "straw"]),
        ("{_.rank:__ & LOWER:i@MAT}", ["mat"]),
    ],
)
def test_attributes_of_tokens(annotated, pattern, found):
    matcher = ConstituentMatcher(annotated.vocab)
    matcher.add("FOUND", [pattern])
    assert [match.span.text for match in matcher(annotated)] == found


def test_attributes_that_there_are_not(doc):
    for trees, pattern, message in (
        (parse_bracketed(TREES), "{LEMMA:be}", "LEMMA is an attribute of tokens, .* such as those of doc"),
        (doc._.trees, "NP << {LEMMA:be}", "the tokens of the Doc have no LEMMA: run a component first"),
        (doc._.trees, "{_.absent}", r"tokens have no _.absent: register it with Token.set_extension"),
    ):
        with pytest.raises(IncparseError, match=message):
            list(compile(pattern).search(trees))


def test_traces_have_no_tokens():
    tree = Tree.from_string("(TOP (S (NP-SBJ (-NONE- *)) (VP (VB Go) (ADVP (RB home)))))").remove_empties()
    doc = Doc(Vocab(), words=["Go", "home"])
    write_tree(doc, 0, 7, encode(tree, [0, 3], [2, 7]))
    trees = doc_trees(doc)
    for pattern, count in (("NP < (__ < !{TEXT:Go})", 1), ("{TEXT:Go}", 1), ("NP << {TEXT:__}", 0)):
        assert compile(pattern).count(trees) == count
