import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.brackets import COLLINS, EvalbParams, parse_params, read_params
from spacy_incparse.evaluation.evalb import PlacedTree, score_by_characters, score_texts, score_trees
from spacy_incparse.evaluation.summaries import format_evalb
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.tree import Tree
from tests.evaluation.pairs import TAGS, tree_pairs
from tests.reference.evalb import score_pair, tree_of
from tests.strategies import deep_tree

GOLD = """\
(TOP (S (NP-SBJ (DT The) (NN baker)) (VP (VBD gave) (PRT (RP up))) (. .)))
(TOP (S (S (NP (PRP We)) (VP (VBD waited))) (, ,) (CC and) (S (NP (NN rain)) (VP (VBD fell))) (. .)))
(TOP (X (: -) (. .)))
(TOP (S (NP (NP (DT a) (NN map)) (PP (IN of) (NP (NNP Lund)))) (VP (VBZ hangs) (ADVP (RB here)))))
(TOP (NP (NP (NNS Ships))))
(TOP (S (NP=2 (PRP She)) (VP (VBD wanted) (S-1 (NP (-NONE- *)) (VP (TO to) (VP (VB sing)))))))
(TOP (FRAG (RB Not) (ADVP (RB yet))))
"""
PARSED = """\
(TOP (S (NP (DT The) (NN baker)) (VP (VBD gave) (ADVP (RP up))) (. .)))
(TOP (S (S (NP (PRP We)) (VP (VBD waited))) (NN ,) (CC and) (S (NP (NN rain)) (VP (VBD fell))) (. .)))
(TOP (X (: -) (. .)))
(TOP (S (NP (DT a) (NN map)) (VP (PP (IN of) (NP (NNP Lund) (VBZ hangs))) (ADVP (RB here)))))
(TOP (NP (NNS Ships)))
(TOP (S (NP (PRP She)) (VP (VBD wanted) (VP (TO to) (VP (NN sing))))))
(TOP (FRAG (RB Not) (ADVP (RB soon))))
"""
# What the program prints, worked out by hand from its rules.
OUTPUT = """\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
============================================================================
   1    5    0  100.00 100.00     4      4    4      0      4     4   100.00
   2    7    1    0.00   0.00     0      0    0      0      0     0     0.00
   3    2    2    0.00   0.00     0      0    0      0      0     0     0.00
   4    6    0   42.86  50.00     3      7    6      3      6     6   100.00
   5    1    0   50.00 100.00     1      2    1      0      1     1   100.00
   6    4    0   83.33 100.00     5      6    5      0      4     3    75.00
   7    2    1    0.00   0.00     0      0    0      0      0     0     0.00
============================================================================
                 68.42  81.25     13    19    16      3     15    14    93.33
=== Summary ===

-- All --
Number of sentence        =      7
Number of Error sentence  =      2
Number of Skip  sentence  =      1
Number of Valid sentence  =      4
Bracketing Recall         =  68.42
Bracketing Precision      =  81.25
Bracketing FMeasure       =  74.29
Complete match            =  25.00
Average crossing          =   0.75
No crossing               =  75.00
2 or less crossing        =  75.00
Tagging accuracy          =  93.33

-- len<=5 --
Number of sentence        =      5
Number of Error sentence  =      1
Number of Skip  sentence  =      1
Number of Valid sentence  =      3
Bracketing Recall         =  83.33
Bracketing Precision      = 100.00
Bracketing FMeasure       =  90.91
Complete match            =  33.33
Average crossing          =   0.00
No crossing               = 100.00
2 or less crossing        = 100.00
Tagging accuracy          =  88.89"""


def trees(text):
    return [tree_of(line) for line in text.splitlines()]


def test_program_output_on_hand_worked_sentences():
    scores = score_trees(trees(GOLD), trees(PARSED), params=replace(COLLINS, cutoff_len=5), as_evalb=True)
    assert format_evalb(scores) == OUTPUT


@settings(max_examples=60)
@given(tree_pairs(), st.booleans(), st.booleans())
def test_equals_the_naive_scorer(pair, as_evalb, labeled):
    equal = (("ADVP", "PRT"), ("NP", "XP"), ("XP", "S"))
    other = replace(COLLINS, labeled=labeled, eq_labels=equal, delete_labels=("TOP", ",", "PRT"))
    for params in (COLLINS, other, EvalbParams()):
        scores = score_trees([pair[0]], [pair[1]], params=params, as_evalb=as_evalb)
        assert scores.per_sentence[0] == score_pair(*pair, params=params, as_evalb=as_evalb)


@settings(max_examples=40)
@given(st.lists(tree_pairs(), max_size=5))
def test_sums_and_tables_agree(pairs):
    scores = score_trees([gold for gold, _ in pairs], [parsed for _, parsed in pairs])
    brackets = scores.all.brackets
    assert sum(label.n_gold for label in scores.per_label.values()) == brackets.n_gold
    assert sum(label.n_parsed for label in scores.per_label.values()) == brackets.n_parsed
    assert sum(label.n_matched_gold for label in scores.per_label.values()) == brackets.n_matched
    assert sum(label.n_matched_parsed for label in scores.per_label.values()) == brackets.n_matched
    assert sum(summary.n_sents for summary in scores.by_length.values()) == scores.all.n_sents == len(pairs)


def test_matches_of_equal_labels_count_for_both_labels():
    scores = score_trees(trees(GOLD)[:1], trees(PARSED)[:1])
    assert scores.per_label["PRT"] == (1, 0, 1, 0)
    assert scores.per_label["ADVP"] == (0, 1, 0, 1)
    assert (scores.per_label["PRT"].recall, scores.per_label["ADVP"].precision) == (1.0, 1.0)
    assert scores.per_label["PRT"].f == scores.per_label["ADVP"].f == 1.0


def test_gold_with_traces_and_functions_against_a_tree_without():
    gold = tree_of("( (S (NP-SBJ-1 (PRP I)) (VP (VBD was) (VP (VBN seen) (NP (-NONE- *-1))))))")
    parsed = tree_of("(TOP (S (NP (PRP I)) (VP (VBD was) (VP (VBN seen)))))")
    assert score_trees([gold], [parsed]).per_sentence[0] == (3, 0, 4, 4, 4, 0, 3, 3)
    assert score_trees([gold], [parsed], as_evalb=True).all.brackets == (4, 5, 4)


@pytest.mark.parametrize("root", ["", "ROOT", "VROOT", "S1"])
def test_wrappers_count_as_top_but_not_for_the_program(root):
    gold, parsed = tree_of(f"({root} (NP (NN a)))"), tree_of("(TOP (NP (NN a)))")
    assert score_trees([gold], [parsed]).all.brackets == (1, 1, 1)
    assert score_trees([gold], [parsed], as_evalb=True).all.brackets == (1, 2, 1)


def test_trees_inside_other_trees_and_single_words():
    gold = tree_of("(TOP (S (NP (NN a)) (VP (VB b) (NP (NN c)))) (NP (NN d)))")
    parsed = tree_of("(TOP (NP (NN d)))")
    vp = gold.children[0].children[1]
    assert score_trees([vp, gold.children[1]], [tree_of("(VP (VB b) (NP (NN c)))"), parsed]).all.brackets == (3, 3, 3)
    assert score_trees([tree_of("(NN d)")], [parsed]).all.brackets == (0, 0, 1)


def test_equal_words():
    gold, parsed = tree_of("(S (VB is) (RB n't))"), tree_of("(S (VB is) (RB not))")
    equal = replace(COLLINS, eq_words=(("not", "n't"),))
    assert score_trees([gold], [parsed], params=equal, as_evalb=True).all.n_errors == 0
    assert score_trees([gold], [parsed], as_evalb=True).all.n_errors == 1


@pytest.mark.parametrize("swap", [False, True])
def test_program_puts_back_quotes_that_one_side_deleted(swap):
    params = replace(COLLINS, quote_labels=("POS", "''"))
    sides = [
        tree_of("(TOP (S (NP (DT the) (NNS boys)) ('' ') (VP (VBD ran) ('' ')) (NP (NN home))))"),
        tree_of("(TOP (S (NP (DT the) (NNS boys) (POS ')) (VP (VBD ran) ('' ')) (NP (NN home))))"),
    ]
    gold, parsed = reversed(sides) if swap else sides
    assert score_trees([gold], [parsed], as_evalb=True).all.n_errors == 1
    scores = score_trees([gold], [parsed], params=params, as_evalb=True)
    assert scores.per_sentence[0] == (6, 0, 3, 4, 4, 0, 5, 4)


def test_nothing_left_to_divide_by():
    empty = score_trees([], [])
    assert empty.to_dict()["const_f"] == 0.0
    assert "Number of sentence        =      0" in empty.format()
    assert score_trees([tree_of("(NN a)")], [tree_of("(NN a)")]).all.exact == 1.0


def test_deep_trees():
    tree = deep_tree(5000)
    flat = make_tree("TOP", list(tree.preterminals()))
    assert score_trees([tree], [tree]).all.brackets == (5000, 5000, 5000)
    assert score_trees([tree], [flat]).all.brackets == (0, 5000, 0)


def test_a_failed_parse_costs_recall_and_is_skipped_by_the_program():
    """As a sentence of which a parser has no word: the program has status 2 where no word is left, see `OUTPUT`."""
    gold, none = trees(GOLD)[:3], [None, trees(PARSED)[1], None]
    scores = score_trees(gold, none, numbers=[4, 7, 9])
    assert (scores.failed, scores.all.n_valid, scores.all.n_skipped) == ((4, 9), 2, 1)
    assert scores.per_sentence[0] == (5, 0, 0, 4, 0, 0, 4, 0)
    assert (scores.all.brackets, scores.all.tag_accuracy) == ((7, 11, 7), 5 / 9)
    assert (scores.to_dict()["failed_parses"], scores.per_label["PRT"].n_gold) == ([4, 9], 1)
    assert "Failed parses: 2, of the sentences 4, 9" in scores.format()
    program = format_evalb(score_trees(gold, none, as_evalb=True)).splitlines()
    assert program[3].replace("   1    5", "   3    2") == program[5] == OUTPUT.splitlines()[5]


def test_words_must_agree():
    gold, fine = tree_of("(NP (NN a) (NN b))"), tree_of("(X (NN a) (NN b))")
    with pytest.raises(IncparseError, match="sentence 2: 2 words in the gold tree, 1 in the parsed one"):
        score_trees([gold, gold], [fine, tree_of("(NP (NN a))")])
    with pytest.raises(IncparseError, match="sentence 1: the word 'b' of the gold tree is 'c'"):
        score_trees([gold], [tree_of("(NP (NN a) (NN c))")])
    for n_gold, n_parsed in ((2, 4), (3, 1)):
        with pytest.raises(IncparseError, match=f"{n_gold} gold trees but {n_parsed} parsed trees"):
            score_trees(iter([gold] * n_gold), iter([gold] * n_parsed))


def test_program_stops_where_errors_exceed_the_limit():
    gold, parsed = tree_of("(NP (NN a))"), tree_of("(NP (NN b))")
    params = replace(COLLINS, max_error=2)
    assert score_trees([gold] * 3, [parsed] * 3, params=params, as_evalb=True).all.n_errors == 3
    with pytest.raises(IncparseError, match=r"stopped at sentence 4: 4 sentences differ.*MAX_ERROR is 2"):
        score_trees([gold] * 4, [parsed] * 4, params=params, as_evalb=True)


def test_collins_file_gives_the_built_in_parameters_but_for_the_error_limit():
    deleted = "".join(f"DELETE_LABEL {label}\n" for label in ("TOP", "-NONE-", ",", ":", "``", "''", "."))
    text = f"# Collins (1997)\nDEBUG 0\n\nMAX_ERROR 10\nCUTOFF_LEN 40\nLABELED 1\n{deleted}"
    text += "DELETE_LABEL_FOR_LENGTH -NONE-\nEQ_LABEL ADVP PRT\n"
    assert parse_params(text) == replace(COLLINS, max_error=10)


def test_all_keys_crlf_and_tabs():
    text = (
        "\ufeffDEBUG 2\r\nLABELED\t0 # none\r\nCUTOFF_LEN 25\r\nDISC_ONLY 0\r\nEQ_WORD n't  not\r\nQUOTE_LABEL POS\r\n"
    )
    expected = EvalbParams(
        eq_words=(("n't", "not"),), quote_labels=("POS",), labeled=False, cutoff_len=25, max_error=10, debug=2,
        delete_words=("-LRB-",),
    )  # fmt: skip
    assert parse_params(text + "TED 0\nDELETE_WORD -LRB-\n") == expected


@pytest.mark.parametrize("as_evalb", [False, True])
@settings(max_examples=30)
@given(pair=tree_pairs())
def test_words_are_deleted_by_spelling(as_evalb, pair):
    """The same as if they had a deleted tag of their own."""
    word = pair[0].words[0]
    deleted = replace(COLLINS, delete_words=(word,))
    tagged = [_retagged(one, word) for one in pair]
    expected = score_trees([tagged[0]], [tagged[1]], params=COLLINS, as_evalb=as_evalb)
    found = score_trees([pair[0]], [pair[1]], params=deleted, as_evalb=as_evalb)
    assert found.per_sentence == expected.per_sentence


def _retagged(tree, word):
    arrays, labels = tree.arrays, list(tree.arrays.labels)
    for k, leaf in enumerate(arrays.leaves):
        if arrays.words[k] == word and labels[leaf] not in COLLINS.delete_labels:
            labels[leaf] = ":"
    return Tree(TreeArrays.of(labels, arrays.sizes, arrays.words))


def test_words_of_parameter_files_may_be_in_penn_spelling():
    gold, parsed = (tree_of(f"(TOP (S (NN {word}) (NN a)))") for word in ("[", "{"))
    params = parse_params("DELETE_WORD -LCB-\nDELETE_WORD -LSB-\nDELETE_LABEL TOP\n")
    assert score_trees([gold], [gold], params=params).per_sentence == [(2, 0, 1, 1, 1, 0, 1, 1)]
    assert score_trees([gold], [parsed], params=parse_params("EQ_WORD -LCB- -LSB-\n")).all.f == 1.0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("DELETE_LABLE TOP", "unknown parameter 'DELETE_LABLE'"),
        ("CUTOFF_LEN forty", "CUTOFF_LEN needs a whole number, not 'forty'"),
        ("CUTOFF_LEN", "CUTOFF_LEN needs a whole number"),
        ("EQ_LABEL ADVP", "expected two values"),
        ("DELETE_LABEL", "expected one label"),
        ("DISC_ONLY 1", "discontinuous"),
        ("TED 1", "tree-edit distance"),
        ("DELETE_WORD", "expected one label"),
    ],
)
def test_wrong_lines_are_named(tmp_path, line, message):
    path = tmp_path / "mine.prm"
    path.write_text(f"LABELED 1\n# a comment\n{line}\n")
    with pytest.raises(IncparseError, match=f"mine.prm:3: .*{message}"):
        read_params(path)
    with pytest.raises(IncparseError, match=r"none\.prm: cannot read"):
        read_params(tmp_path / "none.prm")


def test_program_output_in_full(evalb_files):
    gold, parsed = (trees((evalb_files / name).read_text()) for name in ("gold.mrg", "parsed.mrg"))
    output = format_evalb(score_trees(gold, parsed, as_evalb=True))
    assert output + "\n" == (evalb_files / "evalb.txt").read_text()


def test_default_equals_the_program_after_gold_tags_were_put_in(evalb_files):
    gold, parsed = (trees((evalb_files / name).read_text()) for name in ("gold.mrg", "parsed.mrg"))
    output = format_evalb(score_trees(gold, parsed)).splitlines()
    expected = (evalb_files / "evalb-goldtags.txt").read_text().splitlines()
    assert [_without_tag_figures(line) for line in output] == [_without_tag_figures(line) for line in expected]


def _without_tag_figures(line):
    return "Tagging" if line.startswith("Tagging") else re.sub(r" +\d+ +\d+\.\d\d$", "", line)


def place(trees, text):
    """Find the words of the trees in the text, from left to right."""
    placed, behind = [], 0
    for tree in trees:
        starts, ends = [], []
        for word in tree.words:
            starts.append(text.index(word, behind))
            behind = starts[-1] + len(word)
            ends.append(behind)
        placed.append(PlacedTree(tree, starts, ends))
    return placed


@settings(max_examples=40)
@given(st.lists(tree_pairs(gold_tags=(*TAGS, "-NONE-")), max_size=4), st.integers(0, 2))
def test_equal_tokens_and_sentences_give_the_default_figures(pairs, n_spaces):
    gold, parsed = [gold for gold, _ in pairs], [parsed for _, parsed in pairs]
    text = (" " * n_spaces).join(word for tree in gold for word in tree.words)
    result = score_texts([place(gold, text)], [place(parsed, text)])
    assert result.scores == score_trees(gold, parsed)
    assert result.tokens.n_matched == result.tokens.n_gold == result.tokens.n_parsed
    assert result.sentences == (len(pairs), len(pairs), len(pairs))


def test_other_tokens_and_sentence_bounds():
    text = "Dr. Ash can't stay. He left."
    gold = [
        tree_of("(TOP (S (NP (NNP Dr.) (NNP Ash)) (VP (MD ca) (RB n't) (VP (VB stay))) (. .)))"),
        tree_of("(TOP (S (NP (PRP He)) (VP (VBD left)) (. .)))"),
    ]
    parsed = [
        tree_of("(TOP (NP (NNP Dr.)))"),
        tree_of("(TOP (S (NP (NNP Ash)) (VP (MD can't) (VP (VB stay.))) (NP (PRP He)) (VP (VBD left)) (. .)))"),
    ]
    result = score_texts([place(gold, text)], [place(parsed, text)])
    assert result.tokens == (5, 9, 7)
    assert result.sentences == (0, 2, 2)
    # Right: both inner VPs and the last sentence's NP; "stay." is the VP "stay", since the full stop does not count.
    assert result.scores.per_sentence[0] == (6, 0, 2, 4, 5, 1, 5, 2)
    assert result.scores.per_sentence[1] == (3, 0, 2, 3, 2, 0, 2, 2)
    figures = result.to_dict()
    assert figures["token_r"] == pytest.approx(5 / 9)
    assert figures["const_p"] == pytest.approx(4 / 7)
    assert "Sentences       0.00" in result.format()


def test_traces_have_no_width():
    gold, parsed = tree_of("(TOP (S (NP (-NONE- *)) (VP (VB go))))"), tree_of("(TOP (S (VP (VB go))))")
    result = score_texts([[PlacedTree(gold, [0, 0], [0, 2])]], [[PlacedTree(parsed, [0], [2])]])
    assert result.scores.per_sentence == [(1, 0, 2, 2, 2, 0, 1, 1)]
    assert result.tokens == (1, 1, 1)


def test_texts_are_apart_and_must_be_as_many():
    tree = tree_of("(TOP (NP (NN ox)))")
    text = [PlacedTree(tree, [0], [2])]
    assert score_texts([text, text, []], [text, text, []]).scores.all.brackets == (2, 2, 2)
    with pytest.raises(IncparseError, match="text 2 is missing on one side"):
        score_texts([text], [text, text])


def test_files_with_other_words_and_sentences_are_placed_by_their_characters():
    gold = [
        tree_of("(TOP (S (NP (-NONE- *) (NNP Ash)) (VP (MD ca) (RB n't) (VP (VB stay))) (. .)))"),
        tree_of("(TOP (S (NP (PRP He)) (VP (VBD left)) (. .)))"),
        tree_of("(TOP (S (NP (PRP We)) (VP (VBD slept))))"),
    ]
    parsed = [
        tree_of("(TOP (S (NP (NNP Ash)) (VP (MD can't) (VP (VB stay.)))))"),
        tree_of("(TOP (S (NP (PRP He)) (VP (VBD left)) (. .)) (S (NP (PRP We)) (VP (VBD slept))))"),
    ]
    result = score_by_characters(gold, parsed)
    assert [row[2:5] for row in result.scores.per_sentence] == [(4, 4, 4), (3, 3, 3), (3, 3, 3)]
    assert (result.tokens, result.sentences) == ((6, 10, 8), (1, 3, 2))
    failed = score_by_characters(gold, [parsed[0], None, gold[2]])
    assert [row[2:5] for row in failed.scores.per_sentence] == [(4, 4, 4), (0, 3, 0), (3, 3, 3)]
    assert failed.scores.failed == (2,)
    with pytest.raises(
        IncparseError, match=r"sentence 2: the gold text has .*Heleft\.Wes.* and the parsed one .*Heran"
    ):
        score_by_characters(gold, [gold[0], tree_of("(TOP (S (NP (PRP He)) (VP (VBD ran))))")])
