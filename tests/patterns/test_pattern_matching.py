import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from spacy.tokens import Token
from spacy.vocab import Vocab

from spacy_incparse.documents.extensions import doc_trees
from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.errors import IncparseError
from spacy_incparse.patterns import Forest, PatternError, compile
from tests import strategies
from tests.patterns.random_patterns import ATOMS, TOKEN_ATOMS, patterns
from tests.reference.patterns import SlowPattern

whole_trees = st.one_of(
    strategies.normalised_trees(8, ("S", "NP", "VP", "PP"), ("NN", "NNS", "DT", "PRP$", ",")), strategies.raw_trees(6)
)
trees = st.one_of(whole_trees, whole_trees.map(lambda tree: tree[-1]))  # the latter as a rule without a root


def codes(tree, matches):
    def code(node):
        return 2 * (node.index - tree.index)

    return [(code(m.node) + m.is_word, {name: code(node) for name, node in m.groups.items()}) for m in matches]


def without_words(solutions):
    """Groups name the POS node of a word."""
    found = []
    for node, names in solutions:
        solution = (node, {name: code - code % 2 for name, code in names.items()})
        if solution not in found:
            found.append(solution)
    return found


def compiled(pattern, **options):
    try:
        return compile(pattern, **options)
    except PatternError:
        assume(False)


@pytest.mark.filterwarnings("ignore:the pattern")
@settings(max_examples=150, deadline=None)
@given(patterns(), st.lists(trees, min_size=1, max_size=3), st.booleans())
def test_same_solutions_as_by_definition(text, trees, raw_labels):
    pattern = compiled(text, raw_labels=raw_labels)
    slow = SlowPattern(text, raw_labels)
    forest = Forest(trees)
    expected = [slow.search(tree) for tree in trees]
    for number, tree in enumerate(trees):
        found = codes(tree, pattern.search(tree, every=True))
        assert without_words(found) == without_words(expected[number])
    nodes = [list(dict.fromkeys(node for node, _ in solutions)) for solutions in expected]
    assert pattern.count(forest) == pattern.count(trees) == sum(map(len, nodes))
    for number, tree in enumerate(trees):
        first = codes(tree, [match for match in pattern.search(forest) if match.number == number])
        assert [node for node, _ in first] == nodes[number]
        firsts = dict(reversed(without_words(expected[number])))
        assert [names for _, names in first] == [firsts[node] for node in nodes[number]]


@pytest.mark.parametrize("look", ["count", "search"])
def test_what_is_no_tree_is_refused(look):
    with pytest.raises(IncparseError, match=r"such as those of doc\._\.trees; 'Rain' is not a tree"):
        list(getattr(compile("NP"), look)(["Rain", "falls"]))


Token.set_extension("mark", default=None)


@pytest.mark.filterwarnings("ignore:the pattern")
@settings(max_examples=100, deadline=None)
@given(
    patterns(4, (*ATOMS, *5 * TOKEN_ATOMS)), st.lists(strategies.normalised_trees(6), min_size=1, max_size=3), st.data()
)
def test_attributes_of_tokens_by_definition(text, trees, data):
    pattern, slow = compiled(text), SlowPattern(text)
    (doc,) = trees_to_docs(trees, Vocab(), n_sents=len(trees))
    for token in doc:
        token.lemma_, token.pos_ = (
            data.draw(st.sampled_from(("cat", "dog"))),
            data.draw(st.sampled_from(("NOUN", "VERB"))),
        )
        token._.mark = data.draw(st.integers(0, 2))
    expected = [list(dict.fromkeys(node for node, _ in slow.search(tree))) for tree in doc_trees(doc)]
    assert pattern.count(doc_trees(doc)) == sum(map(len, expected))
    found = [[] for _ in trees]
    for match in pattern.search(doc_trees(doc)):
        found[match.number].append(2 * match.node.index + match.is_word)
    assert found == expected
