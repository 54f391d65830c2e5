import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.errors import ConfigError
from spacy_incparse.rerank.feature_extraction import FeatureExtractor
from spacy_incparse.rerank.features import EXAMPLE_CLOSED_TAGS, EXAMPLE_TREE, FAMILIES, GROUPS, FeatureColumns
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree
from tests.reference import reranking_features as reference
from tests.strategies import deep_tree, normalised_trees

EN, ANY = HeadRules.from_name("en"), HeadRules.from_name("any")
HUANG = GROUPS["huang"]
CLOSED = ("DT", "IN", "CC", "PRP$", "PRP", "TO")
SAMPLE = [tree for name in ("train", "dev") for tree in read_treebank(f"assets/sample-{name}.mrg")]


def keys_by_tree(extractor, trees, **options):
    starts, keys = extractor.keys(trees, **options)
    return [keys[a:b] for a, b in pairwise(starts)]


def relabelled(tree, changes):
    """Return a tree with other labels at some nodes: a candidate over the same words."""
    labels = iter(changes)
    return tree.map_labels(lambda label: next(labels, label) or label)


@st.composite
def candidates(draw, trees=None):
    """Draw a list of trees over the same words, most of their parts the same."""
    tree = draw(normalised_trees() if trees is None else trees)
    change = st.lists(st.sampled_from([None, None, None, "NP", "VP", "PP", "CC", "IN", "."]), max_size=12)
    others = draw(st.lists(change.map(lambda changes: relabelled(tree, changes)), max_size=4))
    flat = make_tree("TOP", [make_tree(leaf.label, leaf.words[0]) for leaf in tree.pos_nodes()])
    return [tree, *others, *draw(st.sampled_from([[], [flat], [tree, flat]]))]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_that_of_the_twin_on_sample_trees(family):
    for heads, trees in ((EN, SAMPLE[::4]), (ANY, SAMPLE[1::8])):
        extractor = FeatureExtractor([family], heads, closed_tags=CLOSED)
        for tree in trees:
            (keys,) = keys_by_tree(extractor, [tree], drop_common=False)
            assert keys.tolist() == sorted(reference.indicators(tree, family, heads, CLOSED)), tree


@settings(max_examples=30)
@given(trees=candidates(), max_count=st.integers(1, 3))
def test_families_are_those_of_the_twin_on_random_lists(trees, max_count):
    for family in FAMILIES:
        extractor = FeatureExtractor([family], ANY, max_count, closed_tags=CLOSED)
        wanted = [reference.indicators(tree, family, ANY, CLOSED, max_count) for tree in trees]
        found = [keys.tolist() for keys in keys_by_tree(extractor, trees, drop_common=False)]
        assert found == list(map(sorted, wanted)), family
        common = set.intersection(*wanted)
        found = [keys.tolist() for keys in keys_by_tree(extractor, trees)]
        assert found == [sorted(keys - common) for keys in wanted], family


def changed_in_one_place(tree):
    """Yield the tree with another label at each node, and without each phrase in turn."""
    arrays = tree.arrays
    for node in range(len(arrays.labels)):
        for label in ("X", "CC", "PP"):
            yield Tree(
                TreeArrays.of([*arrays.labels[:node], label, *arrays.labels[node + 1 :]], arrays.sizes, tree.words)
            )
    for node in range(1, len(arrays.labels)):
        if arrays.sizes[node] > 1:
            above = {k for k in range(node) if k + arrays.sizes[k] > node}
            sizes = [size - (k in above) for k, size in enumerate(arrays.sizes)]
            labels = [*arrays.labels[:node], *arrays.labels[node + 1 :]]
            yield Tree(TreeArrays.of(labels, sizes[:node] + sizes[node + 1 :], tree.words))


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_that_a_family_reads_is_forgotten_when_parts_are_shared(family):
    """A family that reads more than the signature of a part has would find there what another tree has."""
    extractor = FeatureExtractor([family], EN, closed_tags=CLOSED)
    coordination = max(SAMPLE, key=lambda tree: str(tree).count("(CC") * 100 - len(tree.words))
    for tree in (Tree.from_string(EXAMPLE_TREE), coordination, SAMPLE[7]):
        trees = [tree, *changed_in_one_place(tree)]
        for other, keys in zip(trees, keys_by_tree(extractor, trees, drop_common=False), strict=True):
            assert (keys == keys_by_tree(extractor, [other], drop_common=False)[0]).all(), other


@settings(max_examples=40)
@given(trees=candidates(), seed=st.integers(0, 5))
def test_columns_are_the_known_keys(trees, seed):
    extractor = FeatureExtractor(["all"], EN, closed_tags=CLOSED)
    known = np.unique(extractor.keys(trees, drop_common=False)[1])
    known = known[np.random.default_rng(seed).random(len(known)) < 0.5]
    starts, columns = extractor.columns(trees, FeatureColumns(known))
    wanted = [np.flatnonzero(np.isin(known, keys)) for keys in keys_by_tree(extractor, trees)]
    assert columns.dtype == np.int32
    assert starts.tolist() == np.cumsum([0, *map(len, wanted)]).tolist()
    assert columns.tolist() == np.concatenate(wanted).tolist()


@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
def test_the_example_of_a_family_fires(family):
    tree = Tree.from_string(EXAMPLE_TREE)
    found = reference.features(tree, family.name, EN, EXAMPLE_CLOSED_TAGS)
    assert (family.name, *family.example) in found, "\n".join(map(str, found))


def test_trees_may_be_deep_wide_and_long():
    extractor = FeatureExtractor(["all"], ANY, closed_tags=("NN",))
    left = deep_tree(5_000)
    wide = make_tree("TOP", [make_tree(leaf.label, leaf.words[0]) for leaf in left.pos_nodes()])
    _, keys = extractor.keys([left, wide])
    assert 0 < len(keys) < 200_000
    chain = make_tree("NN", "dog")
    for k in range(300):
        chain = make_tree(("NP", "X")[k % 2], [chain])
    assert len(extractor.keys([chain], drop_common=False)[1])


def test_what_is_not_seen():
    """What all trees have, the rest of a larger tree, function tags and capitals."""
    extractor = FeatureExtractor(["all"], EN, closed_tags=CLOSED)
    starts, keys = extractor.keys([Tree.from_string("(NN dog)")])
    assert (starts.tolist(), len(keys)) == ([0, 0], 0)
    part = Tree.from_string(EXAMPLE_TREE)[0][1]
    functional = Tree.from_string("(S (NP-SBJ-1 (NN Dog)))")
    for one, other in ((part, Tree.from_string(str(part))), (functional, Tree.from_string("(S (NP (NN dog)))"))):
        assert (extractor.keys([one], drop_common=False)[1] == extractor.keys([other], drop_common=False)[1]).all()


def test_keys_are_the_same_in_another_process():
    code = (
        "from spacy_incparse.rerank.feature_extraction import FeatureExtractor as E\n"
        "from spacy_incparse.rerank.features import EXAMPLE_TREE\n"
        "from spacy_incparse.trees.heads import HeadRules\n"
        "from spacy_incparse.trees.tree import Tree\n"
        "print(*E(['all'], HeadRules.from_name('en')).keys([Tree.from_string(EXAMPLE_TREE)], drop_common=False)[1])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = FeatureExtractor(["all"], EN).keys([Tree.from_string(EXAMPLE_TREE)], drop_common=False)[1]
    assert result.stdout.split() == [str(key) for key in here]


def test_mistakes_are_named():
    extractor = FeatureExtractor(["rules"], EN)
    with pytest.raises(ValueError, match="at least one tree"):
        extractor.keys([])
    with pytest.raises(ValueError, match=r"different words.*dog.*cat"):
        extractor.keys([Tree.from_string("(NN dog)"), Tree.from_string("(NN cat)")])
    for families, max_count, message in ((["rulez"], 4, "'rulez'"), ([], 4, "no families"), (["rules"], 0, "is 0")):
        with pytest.raises(ConfigError, match=message):
            FeatureExtractor(families, EN, max_count)
    assert FeatureExtractor(["huang", "edges"], EN).families == tuple(f for f in FAMILIES if f in (*HUANG, "edges"))


def test_an_extractor_can_go_to_another_process_and_serve_threads():
    trees = [Tree.from_string(EXAMPLE_TREE), Tree.from_string(EXAMPLE_TREE.replace("(NP (PRP", "(X (PRP"))]
    extractor = FeatureExtractor(["all"], EN, 2, closed_tags=CLOSED)
    wanted = extractor.keys(trees)[1].tolist()
    again = pickle.loads(pickle.dumps(extractor))
    assert (again.families, again.max_count, again.closed_tags) == (extractor.families, 2, tuple(sorted(CLOSED)))
    with ThreadPoolExecutor(4) as pool:
        assert all(keys.tolist() == wanted for _, keys in pool.map(again.keys, [trees] * 200))
