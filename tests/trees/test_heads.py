import json
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.trees.heads import NAMES, HeadRules, head_children, head_words
from spacy_incparse.trees.tree import Tree
from tests.strategies import normalised_trees

EN, ANY = (HeadRules.from_name(name) for name in NAMES)
LABELS = tuple("S NP VP PP NN NNS VBD IN JJ CC CD , . HYPH -LRB- NP/NP XY S/S".split())


def head(rules, phrase):
    parent, *children = phrase.split()
    return children[rules.head_index(parent, children)]


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("TOP `` S .", "S"), ("S NP VP .", "VP"), ("S S , CC S", "S"), ("NP DT JJ NN NNS", "NNS"), ("NP NP PP", "NP"),
        ("NP NN POS", "POS"), ("NP DT JJ", "JJ"), ("NP DT CD", "CD"), ("VP MD RB VP", "MD"), ("VP TO VP", "TO"),
        ("VP ADVP VBD NP", "VBD"), ("PP IN NP", "IN"), ("PP ADVP TO NP", "TO"), ("SBAR WHNP S", "WHNP"),
        ("SBAR IN S", "IN"), ("SQ VBZ NP VP ?", "VBZ"), ("SBARQ WHNP SQ .", "SQ"), ("SINV `` S '' VP NP .", "VP"),
        ("QP RB CD", "RB"), ("ADJP RB JJ", "JJ"), ("ADVP RB PP", "RB"), ("NML NN HYPH NN", "NN"),
        ("UCP NP CC ADJP", "ADJP"),
        ("CONJP CC RB", "CC"), ("PRN -LRB- NP -RRB-", "NP"), ("FRAG : NP .", "NP"), ("LST LS .", "LS"),
        ("WHNP WDT NN", "WDT"), ("WHNP WP$ NN", "WP$"), ("X -LRB- SYM -RRB-", "SYM"), ("HEADING LS NP", "NP"),
        ("NEW , XY .", "XY"), ("NP , .", ","),
    ],
)  # fmt: skip
def test_english_heads(phrase, expected):
    assert head(EN, phrase) == expected


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("S NP VP .", "VP"), ("S S CC S", "S"), ("SENT NP VN", "VN"), ("NP DET NOUN", "NOUN"), ("NP ART NP", "NP"),
        ("VP VERB NP", "VERB"), ("PP APPR ART NN", "APPR"), ("XX , AB CD", "AB"), ("TOP `` NP S .", "S"),
        ("NP , .", ","),
    ],
)  # fmt: skip
def test_heads_of_any_language(phrase, expected):
    assert head(ANY, phrase) == expected


@pytest.mark.parametrize("rules", [EN, ANY], ids=NAMES)
def test_slash_labels_head_nothing_and_have_the_rules_of_their_label(rules):
    assert head(rules, "NP NP/NP ,") == ","
    assert head(rules, "NP NP/NP XY") == "XY"
    assert head(rules, "NP NP/NP") == "NP/NP"
    assert rules.passes("VP/VP") == rules.passes("VP")
    assert rules.priority("VP/VP", "VBD") == rules.priority("VP", "VBD")
    ranks = [rules.priority("NP", label)[0] for label in LABELS if "/" not in label]
    assert rules.priority("NP", "NP/NP")[0] > max(ranks)


def head_by_search(rules, parent, children):
    """Search pass by pass over the whole list, as the rules are stated."""
    is_slash = [re.fullmatch(r"(.+)/\1", label) is not None for label in children]
    is_punctuation = [label in rules.punctuation for label in children]
    for direction, patterns in rules.passes(parent):
        order = range(len(children)) if direction == "left" else range(len(children) - 1, -1, -1)
        for i in order:
            named = children[i] in patterns
            general = not is_punctuation[i] and any(
                (pattern == "=" and children[i] == parent)
                or (pattern == "=1" and children[i][0] == parent[0])
                or (pattern.endswith("*") and children[i].startswith(pattern[:-1]))
                for pattern in patterns
            )
            if not is_slash[i] and (named or general):
                return i
    return min(range(len(children)), key=lambda i: (is_slash[i], is_punctuation[i], i))


@given(
    st.sampled_from((EN, ANY)), st.sampled_from(LABELS[:4]), st.lists(st.sampled_from(LABELS), min_size=1, max_size=6)
)
def test_incremental_heads_are_those_of_the_search(rules, parent, children):
    assert rules.head_index(parent, children) == head_by_search(rules, parent, children)


@pytest.mark.parametrize("rules", [EN, ANY], ids=NAMES)
def test_tables_survive_storing(rules):
    assert HeadRules.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules
    assert pickle.loads(pickle.dumps(rules)) == rules


def test_a_users_own_table(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"rules": {"NP": [["right", ["N*", "="]]], "V*": [["left-any", ["A", "B"]]]}}))
    rules = HeadRules.from_file(path)
    assert head(rules, "NP NP D NA NB C") == "NB"
    assert head(rules, "NP NP C") == "NP"
    assert head(rules, "VZ C B A") == "B"
    assert head(rules, "XP A XP") == "XP"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[]", "expected an object"),
        ('{"rules": []}', "'rules' is missing or not an object"),
        ('{"rules": {}, "rulez": 1}', "unknown entries 'rulez'"),
        ('{"format": "2", "rules": {}}', "'format' is '2'"),
        ('{"rules": {}, "punctuation": ","}', "'punctuation' is not a list"),
        (None, "none.json: the head table cannot be read"),
        ('{"rules": {"NP": []}}', "rules['NP']: expected a list of passes"),
        ('{"rules": {"NP": ["left"]}}', "rules['NP'][0]: expected a direction and a list of labels"),
        ('{"rules": {"NP": [["left", ["A"]], ["up", ["B"]]]}}', "rules['NP'][1]: the direction is 'up'"),
        ('{"rules": {"NP": [["left", [1]]]}}', "rules['NP'][0]: the labels are [1]"),
        (json.dumps({"rules": {"NP": [["left", ["A"] * 101]]}}), "rules['NP']: 101 labels; at most 100"),
        ('{"rules": ', ":1:11: invalid JSON in head table"),
    ],
)
def test_errors_name_file_and_entry(tmp_path, text, what):
    path = tmp_path / ("mine.json" if text else "none.json")
    if text:
        path.write_text(text)
    with pytest.raises(ConfigError, match=re.escape(str(path))) as caught:
        HeadRules.from_file(path)
    assert what in str(caught.value)
    with pytest.raises(ConfigError, match="unknown head table 'xx': choose from en, any"):
        HeadRules.from_name("xx")
    with pytest.raises(IncparseError, match="'NP' has no children"):
        EN.head_index("NP", [])


def test_head_words():
    tree = Tree.from_string("(TOP (S (NP (DT The) (NN owl)) (VP (VBD slept)) (. .)))")
    assert list(head_children(tree.arrays, EN)) == [1, 1]  # VP of S, NN of NP; TOP and VP have one child
    assert head_words(tree.arrays, [1, 1]) == (2, 2, 1, 0, 1, 2, 2, 3)
    for wrong in ([], [1], [3, 1], [-1, 1]):
        with pytest.raises(IncparseError, match="another tree"):
            head_words(tree.arrays, wrong)


@given(normalised_trees())
def test_every_node_has_the_head_of_its_head_child(tree):
    words = head_words(tree.arrays, head_children(tree.arrays, EN))
    for node in tree.preorder():
        if node.is_leaf:
            assert words[node.index] == node.start
        else:
            child = node[EN.head_index(node.label, [child.label for child in node])]
            assert words[node.index] == words[child.index]
