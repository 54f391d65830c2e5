from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.training.loop import train_parser
from spacy_incparse.training.passes import ExtraTrees, PassSelection, check_weight
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

SAMPLE = read_treebank(Path(__file__).parents[2] / "assets" / "sample-train.mrg")
OWN, OTHERS = SAMPLE[:30], SAMPLE[30:70]
SETTINGS = {
    "config": ParserConfig(features="paper", table_bits=16, train_beam_size=4),
    "heads": HeadRules.from_name("en"),
    "n_folds": 2,
    "tagger_settings": {"n_epochs": 1},
    "max_epochs": 2,
    "seed": 5,
}


def run(state_dir=None, own=OWN, dev=(), **more):
    """Train; give the numbers of sentences in the passes, as progress tells, and the models of all passes."""
    totals, models = {}, []

    def note(what, done, total):
        if what.startswith("pass"):
            totals[what] = total

    def keep(_, tagger, parser):
        models.append((tagger.to_bytes(), parser.to_bytes()))

    train_parser(own, dev, state_dir=state_dir, on_pass=keep, progress=note, **(SETTINGS | more))
    return totals, models


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


def test_the_order_of_extra_trees_depends_on_the_seed():
    first, second = (PassSelection(0, 100, 0.1, seed).of_pass(1) for seed in (0, 1))
    assert first != second
    assert list(PassSelection(4).of_pass(3)) == [0, 1, 2, 3]  # without extra trees, a pass is the treebank


@pytest.mark.parametrize("weight", [0.0009, 100.1, "many", True])
def test_a_wrong_weight_is_an_error(weight):
    with pytest.raises(ConfigError, match="extra_weight"):
        check_weight(weight)


def test_extra_trees_of_weight_1_are_more_of_the_treebank():
    assert run(extra=ExtraTrees(OTHERS))[1] == run(own=SAMPLE[:70])[1]


def test_words_tags_and_phrases_of_extra_trees_are_learned():
    extra = [Tree.from_string("(TOP (X (NEW gnus) (VBP run)))")] * 4
    parsers = []
    train_parser(OWN, [], extra=ExtraTrees(extra), on_pass=lambda _, t, p: parsers.append((t, p)), **SETTINGS)
    tagger, parser = parsers[-1]
    assert "X" in parser.labels
    assert tagger.tag(["gnus", "run"])[0] == "NEW"


def test_a_resumed_run_goes_on_with_the_next_part(tmp_path):
    extra = ExtraTrees(OTHERS, 0.25)
    run(tmp_path, extra=extra, max_epochs=1)
    assert run(tmp_path, extra=extra, resume=True)[1][-1] == run(extra=extra)[1][-1]
    for other in (None, ExtraTrees(OTHERS, 0.5), ExtraTrees(OTHERS[1:], 0.25)):
        with pytest.raises(IncparseError, match="other"):
            run(tmp_path, extra=other, resume=True)
