import json

import pytest

from spacy_incparse import Tree
from spacy_incparse.errors import IncparseError
from spacy_incparse.repair.repair import FOLDER, find_rules, make_rules, repair_tree

RULE = {"name": "a", "reason": "b", "pattern": "NP=x", "action": "excise x"}

ENGLISH = {
    "wh-noun-phrase": ("(SBAR (NP (WP$ whose) (NN cat)) (S (VP (VBD slept))))", "WHNP (WP$"),
    "wh-noun-phrase-later": ("(SBARQ (CC And) (NP (WP who)) (SQ (VP (VBD slept))))", "WHNP (WP who)"),
    "wh-noun-phrase-within": (
        "(SBAR (WHNP (NP (DT all)) (WHPP (IN of) (NP (WDT which)))) (S (VP (VBD slept))))",
        "WHNP (WDT",
    ),
    "how-many": ("(VP (VBP know) (NP (WRB how) (JJ many)))", "WHNP (WRB how) (JJ many)"),
    "wh-prepositional-phrase": ("(SBAR (PP (IN in) (WHNP (WDT which))) (S (VP (VBD slept))))", "WHPP (IN in)"),
    "wh-adverb-phrase": ("(VP (VBD knew) (ADVP (WRB why)))", "WHADVP (WRB why)"),
    "how-adjective-alone": ("(SBAR (WRB how) (JJ nice))", "WHADJP (WRB how) (JJ nice)"),
    "even-when-alone": ("(SBAR (RB even) (WRB when) (S (VP (VBN wet))))", "WHADVP (RB even) (WRB when)"),
    "wh-adverb-alone": ("(SBAR (WRB when) (S (VP (VBN wet))))", "WHADVP (WRB when)"),
    "wh-pronoun-alone": ("(SBAR (WP who) (S (VP (VBD slept))))", "WHNP (WP who)"),
    "wh-question": ("(TOP (S (WHNP (WP who)) (SQ (VP (VBD slept)))))", "SBARQ (WHNP (WP who))"),
    "no-wh-word": ("(S (WHNP (NN rain)) (VP (VBD fell)))", "NP (NN rain)"),
    "number-in-brackets": ("(PRN (-LRB- [) (CD 2) (-RRB- ]) (, ,) (-LRB- [) (CD 3) (-RRB- ]))", "(NP (CD 3))"),
    "numbers-in-brackets": ("(PRN (-LRB- -LRB-) (CD 2) (, ,) (CD 3) (-RRB- -RRB-))", "NP (CD 2) (, ,) (CD 3)"),
    "interjection": ("(S (ADVP (UH well)) (VP (VBD slept)))", "INTJ (UH well)"),
    "particle": ("(VP (VBD sat) (ADVP (RP up)))", "PRT (RP up)"),
    "list-marker": ("(NP (NP (LS 1)) (NN rain))", "LST (LS 1)"),
    "list-marker-alone": ("(NP (LS 1) (NN rain))", "LST (LS 1)"),
}
CRAFT = {
    "heading-of-nouns": ("(TOP (HEADING (JJ wet) (NNS cats)))", "NP (JJ wet)"),
    "heading-of-words": ("(TOP (CAPTION (NN cats) (CD 1)))", "FRAG (NN cats)"),
    "heading": ("(TOP (TITLE (S (VP (VB sleep)))))", "TOP (S (VP"),
    "citation-content": ("(NP (CIT (-LRB- -LRB-) (NNP May) (CD 1999) (-RRB- -RRB-)))", "NP (NNP May) (CD 1999)"),
    "citation-in-brackets": ("(NP (CIT (-LRB- -LRB-) (NP (NNP May)) (-RRB- -RRB-)))", "PRN (-LRB- -LRB-) (NP (NNP"),
    "citation": ("(TOP (CIT (NNP May) (CD 1999)))", "NP (NNP May) (CD 1999)"),
    "nml-outside-noun-phrases": ("(VP (VBD saw) (NML (NNS cats)))", "NP (NNS cats)"),
    "nml-with-complement": ("(NP (NML (NN rain) (PP (IN in) (NP (NNP May)))) (NN water))", "NAC (NN rain) (PP"),
    "nml-conjoined-heads": (
        "(NP (DT the) (NML (NML (NN rain)) (CC and) (NML (NN snow))))", "NX (NX (NN rain)) (CC and) (NX (NN"
    ),
    "nml-conjunct": ("(NP (DT the) (NX (NML (NN rain)) (CC and) (NX (NN snow))))", "NX (NX (NN rain))"),
    "nml": ("(NP (NML (NN rain) (NN water)) (NN pump))", "NP (NN rain) (NN water) (NN pump)"),
    "bracketed-noun": ("(NP (NN rain) (-LRB- -LRB-) (NN snow) (-RRB- -RRB-))", "NP (NN snow)"),
    "brackets": ("(S (NP (NN rain)) (-LRB- -LRB-) (NP (NN snow)) (-RRB- -RRB-) (VP (VBD fell)))", "PRN (-LRB-"),
}  # fmt: skip
EXAMPLES = [(source, *item) for source, cases in (("english", ENGLISH), ("craft", CRAFT)) for item in cases.items()]


@pytest.mark.parametrize(("source", "name", "example"), EXAMPLES, ids=[f"{row[0]}-{row[1]}" for row in EXAMPLES])
def test_each_rule_has_an_example(source, name, example):
    text, expected = example
    repaired, changes = repair_tree(Tree.from_string(f"(TOP {text})"), find_rules(source))
    assert name in [change.rule for change in changes]
    assert expected in str(repaired)


def test_no_rule_is_without_an_example():
    found = {path.stem: {rule.name for rule in find_rules(path.stem)} for path in FOLDER.glob("*.json")}
    assert found == {"english": set(ENGLISH), "craft": set(CRAFT)}


@pytest.mark.parametrize(
    "text",
    [
        "(TOP (S (NP (NN CIT)) (VP (VBZ binds) (NP (NN NML)))))",
        "(TITLE (S (VP (VB sleep))))",
    ],
)
def test_words_and_roots_are_left_alone(text):
    """Words are nodes in patterns, and may be called like a phrase; what is around all others cannot be taken away."""
    tree = Tree.from_string(text)
    assert repair_tree(tree, find_rules("craft")) == (tree, [])


@pytest.mark.parametrize("word", ["Paris", "IN"])
def test_words_are_no_tags(word):
    tree = Tree.from_string(f"(TOP (S (WHNP (NNP {word})) (VP (VBD slept))))")
    assert str(repair_tree(tree, find_rules("english"))[0][0][0]) == f"(NP (NNP {word}))"
    tree = Tree.from_string("(TOP (SBAR (WDT that) (S (NP (NN rain)) (VP (VBD fell)))))")
    assert repair_tree(tree, find_rules("english")) == (tree, [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pattern": "NP=x <"}, r"rule 1 \(a\): the pattern is wrong at column 7"),
        ({"action": "adjoin x"}, r"'adjoin x' is none of: relabel NODE LABEL; insert"),
        ({"action": "relabel x"}, "is not of the form: relabel NODE LABEL"),
        ({"action": "insert X"}, "is not of the form: insert LABEL NODE or insert"),
        ({"action": "excise x x"}, "is not of the form: excise NODE"),
        ({"action": "move x x"}, r"is not of the form: move NODE RELATION NODE with the relation \$\+"),
        ({"action": "move x >0 x"}, "is not of the form: move NODE"),
        ({"action": "excise y"}, r"the pattern has no node 'y' \(names in it: x\)"),
        ({"action": "relabel x N("}, "a label has no brackets"),
        ({"reason": 3}, "reason must be a text without tabs, found 3"),
        ({"why": "so"}, "expected an object with the keys name, reason, pattern, action"),
    ],
)
def test_mistakes_in_rules(change, message):
    with pytest.raises(IncparseError, match=message):
        make_rules([RULE | change])


def test_mistakes_in_files(tmp_path):
    path = tmp_path / "rules.json"
    for text, message in [
        ("{", "not a JSON file of rules"),
        ("[]", "expected an object with a list of rules"),
        ('{"rules": []}', "expected a list with at least one rule"),
    ]:
        path.write_text(text)
        with pytest.raises(IncparseError, match=f"rules.json: {message}"):
            find_rules(str(path))
    path.write_text(json.dumps({"rules": [RULE, RULE]}))
    with pytest.raises(IncparseError, match=r"rules.json: rule 2: the name 'a' was given to another rule"):
        find_rules(str(path))
    with pytest.raises(IncparseError, match=r"german: no such file of rules.*\(craft, english\)"):
        find_rules("german")
