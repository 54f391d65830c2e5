"""Templates of edges are data that can be checked: kinds, fields, outcomes."""

import pytest

from spacy_incparse.chart.templates import (
    BORDERS,
    OUTCOMES,
    SPAN_FIELDS,
    WORD_VALUES,
    EdgeField,
    base_category,
    columns,
    parse_field,
    parse_key,
    resolve,
)
from spacy_incparse.errors import ConfigError
from spacy_incparse.transforms.markovize import Markovization
from tests.chart.grammars import ALL_SETS, grammar_of


def test_fields_name_a_word_or_a_span():
    assert parse_field("W[i-1]") == EdgeField("W", "i", -1, "i")
    assert parse_field("T[k]") == EdgeField("T", "k", 0, "k")
    assert parse_field("LEFT").borders == "ik"


def test_a_template_has_one_outcome_after_the_other():
    templates = resolve({"span": ["W[i] T[j-1] -> rule state"], "rule": ["-> rule"]})
    assert [t.key for t in templates] == ["rule -> rule", "span W[i] T[j-1] -> rule", "span W[i] T[j-1] -> state"]
    assert [t.borders for t in templates] == ["", "ij", "ij"]
    assert tuple(map(parse_key, (t.key for t in templates))) == templates


@pytest.mark.parametrize("name", sorted(ALL_SETS))
def test_named_sets_have_clusters_only_when_asked(name):
    plain, all_of_it = (resolve(name, clusters=has_them, named=ALL_SETS) for has_them in (False, True))
    assert set(plain) <= set(all_of_it)
    assert not [t for t in plain if any(field.value in "KG" for field in t.parsed)]
    assert len({t.key for t in all_of_it}) == len(all_of_it)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ("sapn", "unknown feature set 'sapn'"),
        ({"spam": ["-> rule"]}, "unknown kind of template 'spam'"),
        ({"span": ["W[i]"]}, "has no outcomes"),
        ({"span": ["W[i] ->"]}, "has no outcomes"),
        ({"span": ["W[i] -> rules"]}, "unknown outcome 'rules'"),
        ({"span": ["W[i-4] -> rule"]}, "unknown field"),
        ({"span": ["W[k] -> rule"]}, "cannot be used"),
        ({"word": ["W[j] -> rule"]}, "cannot be used"),
        ({"span": ["RANK -> rule"]}, "cannot be used"),
    ],
)
def test_mistakes_are_named(features, message):
    with pytest.raises(ConfigError, match=message.replace("[", r"\[")):
        resolve(features)


def test_outcomes_give_columns_to_the_rules_of_a_kind(sample_trees):
    grammar = grammar_of(sample_trees, Markovization(vertical=1))
    n_rules, n_states = grammar.n_rules, len(grammar.states)
    for kind in BORDERS:
        for outcome in OUTCOMES:
            found = columns(grammar, kind, outcome)
            assert found.shape == (n_rules + n_states,)
            assert set(found[found >= 0].tolist()) == set(range(found.max() + 1))
    assert (columns(grammar, "rule", "rule") == range(n_rules + n_states)).all()
    bases = columns(grammar, "span", "base")
    for one, rule in enumerate(grammar.rules[: grammar.first_lexical]):
        for other, rule2 in enumerate(grammar.rules[: grammar.first_lexical]):
            assert (bases[one] == bases[other]) == (base_category(rule.parent) == base_category(rule2.parent))
    assert (columns(grammar, "bare", "state")[:n_rules] == -1).all()
    verbs = columns(grammar, "span", "left_verb")
    meant = {str(rule) for rule, column in zip(grammar.rules, verbs, strict=False) if column >= 0}
    assert meant == {"VP^S -> =VBD NP^VP", "VP^S -> =VBD PP^VP"}


def test_the_base_of_a_state_is_its_category():
    assert [base_category(s) for s in ("NP^S|<DT>", "S+VP^TOP", "=NP+NN^S", "VP^S[VBZ]")] == [
        "NP",
        "S+VP",
        "=NP+NN",
        "VP",
    ]


def test_all_fields_and_outcomes_are_explained():
    assert all(WORD_VALUES.values())
    assert all(text for _, text in SPAN_FIELDS.values())
    assert all(text for text, _ in OUTCOMES.values())
