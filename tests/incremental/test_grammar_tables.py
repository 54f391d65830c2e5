import json

import pytest

from spacy_incparse.incremental.coverage import ChainRow, Coverage, grammar_table
from spacy_incparse.treebanks.reader import parse_bracketed, read_treebank

TRAIN = list(
    parse_bracketed(
        """
        (TOP (S (NP (NP (NN Rain)) (PP (IN on) (NP (NN stone)))) (VP (VBD fell))))
        (TOP (S (NP (NN Rain)) (VP (VBD fell))))
        (TOP (S (VP (VB Look))))
        """
    )
)
HELD_OUT = list(
    parse_bracketed(
        """
        (TOP (S (NP (NN Snow)) (VP (VBD fell))))
        (TOP (S (VP (VB Stop))))
        (TOP (S (S (VP (VB Stop))) (CC and) (VP (VB look))))
        """
    )
)


def test_the_table_as_data_and_as_text():
    # Untransformed, long chains: S-NP-NP-NN, S-NP-NN and S-VP-VB. Held out unseen: S-S-VP-VB, CC alone, VP-VB.
    # Transformed: S-NP-NN twice, NP/NP-PP-IN and S-VP-VB. Held out unseen: S/S-CC and VP-VB.
    table = grammar_table(TRAIN, HELD_OUT)
    assert table.rows == (
        ChainRow("none", "gold", 3, 0, held_out_types=3, unseen=3 / 6, unseen_pruned=5 / 6),
        ChainRow("left corner", "gold", 3, 1, held_out_types=2, unseen=2 / 6, unseen_pruned=4 / 6),
    )
    assert table.coverage == (
        Coverage(1, derived=2 / 3, missing_chain=1 / 3, missing_triple=1 / 3),
        Coverage(2, derived=1 / 3, missing_chain=2 / 3, missing_triple=1 / 3),
    )
    assert (table.n_sentences, table.n_words, table.held_out_sentences, table.held_out_words) == (3, 7, 3, 6)
    assert (table.n_nonterminals, table.n_tags, table.n_chains) == (6, 4, 5)
    assert table.format().splitlines()[-1].split()[-3:] == ["33.3%", "66.7%", "33.3%"]
    data = json.loads(json.dumps(table.to_dict()))
    assert (data["rows"][1]["unseen"], data["coverage"][0]["derived"]) == (2 / 6, 2 / 3)


def test_cut_offs():
    table = grammar_table(TRAIN, HELD_OUT, chain_min_count=3)
    assert [row.n_repeated_types for row in table.rows] == [0, 0]
    assert table.coverage[1].chain_min_count == 3
    assert grammar_table(TRAIN, HELD_OUT, triple_min_count=2).n_triples < table.n_triples


def test_the_root_may_count_and_held_out_trees_may_be_missing():
    fragments = list(parse_bracketed("(TOP (NP (NN Rain))) (TOP (UH Oh))"))
    assert [row.n_types for row in grammar_table(fragments).rows] == [0, 0]
    table = grammar_table(fragments, with_top=True)
    assert [row.n_types for row in table.rows] == [1, 1]  # TOP-NP-NN; TOP-UH is short
    assert "root counted" in table.format()
    assert (table.coverage, table.rows[1]) == ((), ChainRow("left corner", "gold", 1, 0))


def test_given_tags_stand_beside_gold_ones():
    train_tags = [["NN", "IN", "NN", "VBD"], ["NN", "VBD"], ["NN"]]
    table = grammar_table(TRAIN, HELD_OUT, train_tags=train_tags)
    names = [("none", "gold"), ("none", "given"), ("left corner", "gold"), ("left corner", "given")]
    assert [(row.transform, row.tags) for row in table.rows] == names
    assert table.rows[0] == grammar_table(TRAIN, HELD_OUT).rows[0]
    assert table.n_tags == 3
    assert table.coverage[0].derived == 1 / 3  # the tag VB is gone
    with pytest.raises(ValueError, match="2 tags for the 1 words of 'Look'"):
        grammar_table(TRAIN, train_tags=[*train_tags[:2], ["VB", "VB"]])


@pytest.mark.treebanks
def test_figures_of_a_treebank(treebanks):
    table = grammar_table(*(read_treebank(treebanks / "wsj" / f"{part}.mrg") for part in ("train", "dev")))
    row = table.rows[1]
    assert (row.n_types, row.n_repeated_types) == (370, 216)
    assert (row.unseen, row.unseen_pruned) == pytest.approx((0.0053, 0.0062), abs=5e-5)
    pruned = table.coverage[1]
    shares = pruned.derived, pruned.missing_chain, pruned.missing_triple
    assert shares == pytest.approx((0.769, 0.124, 0.171), abs=5e-4)
