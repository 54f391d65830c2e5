from collections import Counter

from spacy_incparse.treebanks.reader import normalize, read_trees
from tests.small_pipeline import ASSETS

TREES = [tree for name in ("train", "dev") for tree in read_trees(ASSETS / f"sample-{name}.mrg")]


def test_sentences_of_the_sample_treebank_are_unique_and_keep_their_words():
    sentences = [" ".join(leaf.words[0] for leaf in tree.preterminals() if leaf.label != "-NONE-") for tree in TREES]
    assert max(Counter(sentences).values()) == 1
    assert [" ".join(normalize(tree).words) for tree in TREES] == sentences
