from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.training.passes import ExtraTrees, PassSelection, check_weight
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.tree import Tree
from tests.training_runs import train

SAMPLE = read_treebank(Path(__file__).parents[2] / "assets" / "sample-train.mrg")
OWN, OTHERS = SAMPLE[:30], SAMPLE[30:70]
CONFIG = ParserConfig(features="paper", table_bits=16, train_beam_size=4)


@given(st.integers(1, 9), st.integers(1, 9), st.floats(0.01, 4), st.integers(0, 3))
def test_each_pass_has_all_own_sentences_and_every_extra_one_in_turn(n_own, n_extra, weight, seed):
    selection = PassSelection(n_own, n_extra, weight, seed)
    drawn: Counter = Counter()
    for number in range(1, 6):
        found = list(selection.of_pass(number))
        assert len(found) == len(selection) == n_own + max(round(weight * n_extra), 1)
        assert found[:n_own] == list(range(n_own))
        drawn.update(found[n_own:])
    assert set(drawn) <= set(range(n_own, n_own + n_extra))
    counts = [drawn[k] for k in range(n_own, n_own + n_extra)]
    assert max(counts) - min(counts) <= 1  # none is drawn twice before all are drawn once
    assert list(PassSelection(n_own).of_pass(3)) == list(range(n_own))
    assert PassSelection(0, 100, 0.1, seed).of_pass(1) != PassSelection(0, 100, 0.1, seed + 1).of_pass(1)
    for wrong in (0.0009, 100.1, "many", True):
        with pytest.raises(ConfigError, match="extra_weight"):
            check_weight(wrong)


def test_extra_trees_of_weight_1_are_more_of_the_treebank():
    assert train(OWN, CONFIG, extra=ExtraTrees(OTHERS)).stored == train(SAMPLE[:70], CONFIG).stored


def test_words_tags_and_phrases_of_extra_trees_are_learned():
    extra = [Tree.from_string("(TOP (X (NEW gnus) (VBP run)))")] * 4
    tagger, parser = train(OWN, CONFIG, extra=ExtraTrees(extra)).models[-1]
    assert "X" in parser.labels
    assert tagger.tag(["gnus", "run"])[0] == "NEW"


def test_a_resumed_run_goes_on_with_the_next_part(tmp_path):
    extra = ExtraTrees(OTHERS, 0.25)
    train(OWN, CONFIG, tmp_path, extra=extra, max_epochs=1)
    assert train(OWN, CONFIG, tmp_path, extra=extra, resume=True).stored == train(OWN, CONFIG, extra=extra).stored[1:]
    for other in (None, ExtraTrees(OTHERS, 0.5), ExtraTrees(OTHERS[1:], 0.25)):
        with pytest.raises(IncparseError, match="other"):
            train(OWN, CONFIG, tmp_path, extra=other, resume=True)
