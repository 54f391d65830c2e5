import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError
from spacy_incparse.functions.dependencies import Dependency, conllu_lines, dependencies
from spacy_incparse.functions.relations import read_relations
from spacy_incparse.functions.rules import with_rules
from spacy_incparse.functions.scoring import RelationScores, aligned, read_conllu
from spacy_incparse.functions.tables import LanguageTable
from spacy_incparse.treebanks.reader import ANNOTATED, normalize, read_treebank
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree
from tests.functions.test_relation_rules import SENTENCES

EN, HEADS = LanguageTable.find("en"), HeadRules.from_name("en")
TREES = [normalize(Tree.from_string(text), ANNOTATED) for text, _ in SENTENCES]


def slow_relations(gold, found):
    """(gold, found, right) of all relations and of those that stand elsewhere, counted one by one."""
    sides = [read_relations(gold.arrays, EN), read_relations(with_rules(found.arrays, EN), EN)]
    n_all, n_nonlocal, elsewhere = [0, 0, 0], [0, 0, 0], {}
    for one in (*sides[1], *sides[0]):
        elsewhere[one[:3]] = one.understood
    seen = [[], []]
    for side, relations in enumerate(sides):
        for one in relations:
            if one.relation != "modifier" and one[:3] not in seen[side]:
                seen[side].append(one[:3])
                for counts in [n_all, n_nonlocal][: 1 + elsewhere[one[:3]]]:
                    counts[side] += 1
                    counts[2] += side == 1 and one[:3] in seen[0]
    return n_all, n_nonlocal


def counts(one):
    return [one.n_gold, one.n_found, one.n_right]


@pytest.mark.parametrize("gold", TREES)
def test_relations_are_counted_as_by_the_twin(gold):
    wrong = Tree.from_string(str(gold.strip_functions()).replace("(VBD ", "(VBN ").replace("(VP (TO", "(S (TO"))
    for found in (gold, gold.strip_functions(), wrong):
        scores = RelationScores(EN)
        scores.add(gold.arrays, found.arrays)
        n_all, n_nonlocal = slow_relations(gold, found)
        assert counts(scores.relations.total()) == n_all
        assert counts(scores.places.total(["nonlocal"])) == n_nonlocal
        assert counts(scores.places.total()) == n_all
    scores = RelationScores(EN)
    scores.add(gold.arrays, None)
    assert counts(scores.relations.total()) == [n_all[0], 0, 0]


@settings(max_examples=50)
@given(st.data())
def test_attachment_is_counted_as_by_the_twin(data):
    scores, n, n_heads, n_both = RelationScores(EN), 0, 0, 0
    for tree in data.draw(st.lists(st.sampled_from(TREES), min_size=1, max_size=3)):
        own = dependencies(tree.arrays, EN)
        gold = [
            data.draw(st.sampled_from([one, Dependency(0, one.label), Dependency(one.head, "punct")])) for one in own
        ]
        scores.add_dependencies(gold, tree.arrays)
        for one, right in zip(own, gold, strict=True):
            if right.label != "punct":
                n += 1
                n_heads += one.head == right.head
                n_both += one == right
    assert counts(scores.attached.total(["UAS"])) == [n, n, n_heads]
    assert counts(scores.attached.total(["LAS"])) == [n, n, n_both]


def conllu(trees):
    blocks = []
    for tree in trees:
        lines = conllu_lines(tree.arrays, tree.words, [False] * len(tree.words), HEADS, EN)
        blocks.append("# text = a\n" + "\n".join(lines) + "\n")
    return "\n".join(blocks)


def test_conllu_is_read_as_it_is_written(tmp_path):
    file = tmp_path / "gold.conllu"
    file.write_text(conllu(TREES) + "\n1-2\tThe boat" + 8 * "\t_" + "\n" + conllu(TREES[:1]), encoding="utf8")
    sentences = read_conllu(file)
    trees = read_treebank(file, steps=ANNOTATED)
    assert [str(tree) for tree in trees] == [str(tree.strip_functions()) for tree in (*TREES, TREES[0])]
    assert [tree.arrays.functions_of(1) for tree in trees[:-1]] == [tree.arrays.functions_of(1) for tree in TREES]
    assert aligned(sentences, trees, file) == [dependencies(tree.arrays, EN) for tree in (*TREES, TREES[0])]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("\t5\t", "\tfive\t", "gold.conllu:3:1: .*head of .*, not 'five'"),
        ("\t5\t", "\t50\t", "gold.conllu:3:1: expected the number of one of 8 words, .*, not '50'"),
        ("\t_\t", "  ", "gold.conllu:2:1: .* in 10 columns"),
        ("1\tThe", "One\tThe", "gold.conllu:2:1: expected word 1 of CoNLL-U .*, not 'One"),
    ],
)  # fmt: skip
def test_odd_conllu_is_refused(tmp_path, old, new, what):
    file = tmp_path / "gold.conllu"
    text = conllu(TREES[:1])
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf8")
    with pytest.raises(IncparseError, match=what):
        read_conllu(file)


def test_other_words_and_no_brackets_are_refused(tmp_path):
    file = tmp_path / "gold.conllu"
    file.write_text(conllu(TREES[:1]).replace("Tree=", "Other="), encoding="utf8")
    sentences = read_conllu(file)
    with pytest.raises(IncparseError, match=r"gold\.conllu:2:1: expected brackets such as"):
        read_treebank(file)
    with pytest.raises(IncparseError, match="sentence 1 of the treebank is 'Eva "):
        aligned(sentences, TREES[1:], file)
    with pytest.raises(IncparseError, match=r"sentence 2 .*no more sentences"):
        aligned(sentences, TREES[:2], file)
