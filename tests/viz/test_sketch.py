from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.sketch import child_indices, folded_phrases, sketch, text_lines
from tests.strategies import deep_tree, raw_trees

TREE = Tree.from_string("(TOP (S (NP-SBJ (DT The) (NN dog)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))")


def labels_of(tree, folded):
    return [tree.arrays.labels[i] for i in sorted(folded)]


def check_shape(nodes):
    """The sizes are those of a tree: children fill their parents."""
    sizes = [node.size for node in nodes]
    assert sizes[0] == len(nodes)
    for i, size in enumerate(sizes):
        assert 1 + sum(sizes[child] for child in child_indices(sizes, i)) == size


def test_phrases_are_folded_by_label_depth_and_length():
    assert labels_of(TREE, folded_phrases(TREE, labels=["NP"])) == ["NP-SBJ", "NP"]
    assert labels_of(TREE, folded_phrases(TREE, labels=["NP-SBJ"])) == ["NP-SBJ"]
    assert labels_of(TREE, folded_phrases(TREE, depth=2)) == ["NP-SBJ", "VP"]
    assert labels_of(TREE, folded_phrases(TREE, length=3)) == ["NP-SBJ", "PP", "NP"]
    assert folded_phrases(TREE) == frozenset()
    assert 0 not in folded_phrases(TREE, length=100, depth=0)


def test_a_folded_phrase_stands_over_its_words():
    nodes = sketch(TREE, folded_phrases(TREE, length=3))
    assert [(node.label, node.lines) for node in nodes if node.size == 1] == [
        ("NP-SBJ", ("The dog",)),
        ("VBD", ("sat",)),
        ("PP", ("on the mat",)),
        (".", (".",)),
    ]
    check_shape(nodes)


@given(raw_trees(), st.data())
@settings(max_examples=60, deadline=None)
def test_what_is_left_is_a_tree_with_all_words(tree, data):
    folded = data.draw(st.sets(st.sampled_from([node.index for node in tree.preorder()])))
    node = tree if not tree.children else data.draw(st.sampled_from([tree, *tree.children]))
    nodes = sketch(node, folded)
    check_shape(nodes)
    leaves = [leaf for leaf in nodes if leaf.size == 1]
    n_words = sum(node.arrays.ends[leaf.index] - node.arrays.starts[leaf.index] for leaf in leaves)
    assert n_words == len(node.words)


def test_lines_have_the_beginning_and_the_end():
    assert text_lines(["a", "short", "one"]) == ("a short one",)
    long = [f"word{number}" for number in range(40)]
    lines = text_lines(long)
    assert len(lines) == 4
    assert lines[0].startswith("word0 word1")
    assert lines[1].endswith(" …")
    assert lines[-1].endswith("word39")
    assert len(text_lines(["x" * 100])[0]) < 30


def test_deep_trees():
    tree = deep_tree(5_000)
    assert len(sketch(tree, folded_phrases(tree, depth=4_000))) == 8_001 - 1
