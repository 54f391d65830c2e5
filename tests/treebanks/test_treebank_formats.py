"""Formats other than brackets: every file is written for these tests, with the oddities of the formats."""

import gzip
import os
import random
import re
import warnings
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.treebanks.formats import FORMATS, TreeOfFile, sentences_of_text, written
from spacy_incparse.treebanks.graphs import tree_of_graph, with_edge
from spacy_incparse.treebanks.reader import SkipLog, read_sentences, read_treebank, read_trees
from spacy_incparse.trees.tree import Tree
from tests.treebanks.damage import damaged

NAMES = {one.name: one for one in FORMATS}

# "Darüber hat sie lange nachgedacht." The VP has a gap; its head (HD) stands behind it, so that the PP moves up to S.
EXPORT_4 = """\
#FORMAT 4
%% word\tlemma\ttag\tmorph\tedge\tparent\tsecedge
#BOT WORDTAG
-1\tUNKNOWN\tY\tno tag
#EOT WORDTAG
#BOS 17 2 899973978 0 %% a comment
Darüber\t\tdarüber\t\tPROAV\t--\tMO\t501\t%% up front
hat\thaben\tVAFIN\t3.Sg\tHD\t502\tSB\t501
sie\tsie\tPPER\t--\tSB\t502
lange\tlange\tADV\t--\tHD\t500
%% between the lines
nachgedacht\tnachdenken\tVVPP\t--\tHD\t501
.\t.\t$.\t--\t--\t0
#502\t--\tS\t--\t--\t0
#500\t--\tAVP\t--\tMO\t501
#501\t--\tVP\t--\tOC\t502 %% the highest number is not the highest node
#EOS 17
"""
RAISED = (
    "(VROOT (S (PROAV-MO Darüber) (VAFIN-HD hat) (PPER-SB sie) "
    "(VP-OC (AVP-MO (ADV-HD lange)) (VVPP-HD nachgedacht))) ($. .))"
)
# The comma hangs from the virtual root inside the S, which is no gap once it is attached there; there are two roots.
EXPORT_3 = """\
#BOS 3 0 0 0
Regen   NN   --  SB  500
,       $,   --  --  0
sagt    VVFIN  --  HD  500
Eva     NE   --  SB  500
?       $.   --  --  0
Ja      ITJ  --  --  501
#500    S    --  --  0
#501    DL   --  --  0
#EOS 3
"""
LOWERED = "(VROOT (S (NN-SB Regen) ($, ,) (VVFIN-HD sagt) (NE-SB Eva)) ($. ?) (DL (ITJ Ja)))"
TIGER = """\
<?xml version="1.0" encoding="ISO-8859-1"?>
<t:corpus id="mine" xmlns:t="http://example.org/t">
<t:head><t:annotation><t:feature name="pos" domain="T"/></t:annotation></t:head>
<t:body><t:subcorpus name="one">
<t:s id="s17">
  <t:graph root="s17_VROOT" discontinuous="true">
    <t:terminals>
      <t:t id="s17_1" word="Darüber" lemma="x" pos="PROAV" morph="--"/><t:t id="s17_2" word="hat" pos="VAFIN">
        <t:secedge label="SB" idref="s17_501"/></t:t>
      <t:t id="s17_3" word="sie" pos="PPER"/><t:t id="s17_4" word="lange" pos="ADV"/>
      <t:t id="s17_5" word="nachgedacht" pos="VVPP"/><t:t id="s17_6" word="." pos="$."/>
    </t:terminals>
    <t:nonterminals>
      <t:nt id="s17_VROOT" cat="VROOT"><t:edge label="--" idref="s17_502"/><t:edge label="--" idref="s17_6"/></t:nt>
      <t:nt id="s17_502" cat="S"><t:edge label="OC" idref="s17_501"/><t:edge label="HD" idref="s17_2"/>
        <t:edge label="SB" idref="s17_3"/></t:nt>
      <t:nt id="s17_501" cat="VP"><t:edge label="MO" idref="s17_1"/><t:edge label="MO" idref="s17_500"/>
        <t:edge label="HD" idref="s17_5"/></t:nt>
      <t:nt id="s17_500" cat="AVP"><t:edge label="HD" idref="s17_4"/></t:nt>
    </t:nonterminals>
  </t:graph>
  <t:matches><t:match subgraph="s17_500"/></t:matches>
</t:s></t:subcorpus></t:body></t:corpus>
"""
WITHOUT_ROOT = """\
<corpus><body><s id="a1"><graph><terminals><t id="a1_1" word="&lt;b&gt; &amp;" pos="XY"/><t id="2" word="Ja" pos="ITJ"/>
</terminals><nonterminals><nt id="n" cat="DL"><edge idref="2"/></nt></nonterminals></graph></s></body></corpus>
"""
DISC = """\
# a comment
(VROOT (S (VP-OC (PROAV-MO 0=Darüber) (AVP-MO (ADV-HD 3=lange)) (VVPP-HD 4=nachgedacht)) \
(VAFIN-HD 1=hat) (PPER-SB 2=sie)) ($. 5=.))
(NP (NN 1=-RRB-) (-LRB- 0=#LRB#))
(UH 0=Yes)
"""
BARE = """\
(VROOT (S (VP-OC (PROAV-MO 0) (AVP-MO (ADV-HD 3)) (VVPP-HD 4)) (VAFIN-HD 1) (PPER-SB 2)) ($. 5))\t\
Darüber hat sie lange nachgedacht .
"""
CONLLU = """\
# newdoc id = d
# sent_id = d-1
# text = It won't (rain).
1\tIt\tit\tPRON\tPRP\t_\t3\tnsubj\t_\tTree=(TOP(S(NP-SBJ*)
2-3\twon't\t_\t_\t_\t_\t_\t_\t_\t_
2\two\t_\tAUX\tMD\t_\t0\troot\t_\tSpaceAfter=No|Tree=(VP*
2.1\tgone\t_\t_\t_\t_\t_\t_\t_\t_
3\tn't\t_\tPART\t_\t_\t2\tadvmod\t_\tTree=(ADVP/PRT*))
4\t(\t_\tPUNCT\t-LRB-\t_\t2\tpunct\t_\tTree=*))

"""
CONLL = """\
#begin document (bn/mine); part 000
bn/mine   0   0      Rain    NN  (TOP(S(NP*)          -   -   -   Speaker   *   (0)
bn/mine   0   1     falls   VBZ         (VP*  fall   01   1   Speaker (V*)   -
bn/mine   0   2     -LRB-  -LRB-     (PRN*       -   -   -   Speaker   *   -
bn/mine   0   3   now\\/then    RB (ADVP|X*)))       -   -   -   Speaker   *   -
bn/mine   0   4        ''    ''            *))   -   -   -   Speaker   *   -

bn/mine   0   0   Yes   UH   (INTJ*)   -   -   -   Speaker   *   -

#end document
"""
FILES = {
    "a.export": (EXPORT_4, [RAISED], ["17"]),
    "b.txt": (EXPORT_3, [LOWERED], ["3"]),
    "c.xml": (TIGER, [RAISED], ["s17"]),
    "d.xml": (WITHOUT_ROOT, ["(VROOT (XY <b>-U0020-&) (DL (ITJ Ja)))"], ["a1"]),
    "e.dbr": (DISC, [RAISED, "(NP (-LRB- -LRB-) (NN -RRB-))", "(UH Yes)"], [None] * 3),
    "f.dbr": (BARE, [RAISED], [None]),
    "g.conllu": (CONLLU, ["(TOP (S (NP-SBJ (PRP It)) (VP (MD wo) (ADVP|PRT (PART n't))) (-LRB- -LRB-)))"], ["d-1"]),
    "h_conll": (
        CONLL,
        [
            "(TOP (S (NP (NN Rain)) (VP (VBZ falls) (PRN (-LRB- -LRB-) (ADVP|X (RB now/then)))) ('' \")))",
            "(INTJ (UH Yes))",
        ],
        [None] * 2,
    ),
}


def sentences(text, path="x", **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(sentences_of_text(text, path, **how))


def message(text):
    with pytest.raises(TreebankError) as error:
        sentences(text)
    return str(error.value)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("is_zipped", [False, True])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.filterwarnings("ignore:.*branches cross")
def test_files_with_all_oddities(tmp_path, name, is_zipped, newline):
    text, trees, ids = FILES[name]
    data = text.replace("\n", newline).encode("latin-1" if "8859-1" in text else "utf8")
    (tmp_path / name).write_bytes(gzip.compress(data) if is_zipped else data)
    found = list(read_sentences(tmp_path / name))
    assert [str(one.tree) for one in found] == trees
    assert [one.id for one in found] == ids
    assert list(read_trees(tmp_path / name)) == [one.tree for one in found]
    assert [tree.words for tree in read_treebank(tmp_path / name)] == [one.tree.words for one in found]


def test_moved_nodes_are_told(tmp_path):
    (tmp_path / "a.export").write_text(f"{EXPORT_4}#FORMAT 3\n{EXPORT_3}", encoding="utf8")
    with pytest.warns(UserWarning, match=r"branches cross in 2 of 2 trees; 2 nodes were moved"):
        assert [one.n_moved for one in read_sentences(tmp_path / "a.export")] == [1, 1]


# Words a b c d e; worked by hand after the description in graphs.py.
@pytest.mark.parametrize(
    ("text", "tree"),
    [
        # No HD: the head table takes the child with the phrase's first letter, and the relative clause moves up.
        ("(R (S (NP (D 0=a) (N 1=b) (SB 3=d)) (V 2=c)) (P 4=e))", "(R (S (NP (D a) (N b)) (V c) (SB d)) (P e))"),
        # The head is in the last block, although the first is longer.
        ("(R (X (Y 0=a) (Y 1=b) (Y-HD 3=d)) (V 2=c) (P 4=e))", "(R (Y a) (Y b) (V c) (X (Y-HD d)) (P e))"),
        # P leaves NP, then VP and S, which do not cover it without a gap either; NP leaves VP.
        (
            "(R (S (VP (NP (N 0=a) (P 4=e)) (V-HD 2=c)) (A 1=b)) (B 3=d))",
            "(R (S (NP (N a)) (A b) (VP (V-HD c))) (B d) (P e))",
        ),
        # A virtual root is no phrase: what hangs from it inside another phrase goes down to its neighbours' phrase.
        ("(VROOT (S (NP (D 0=a) (N 3=d)) (V 4=e)) (P 1=b) (P 2=c))", "(VROOT (S (NP (D a) (P b) (P c) (N d)) (V e)))"),
    ],
)
def test_raising_by_hand(text, tree):
    (found,) = sentences(text)
    assert str(found.tree) == tree


@st.composite
def graphs(draw):
    """Words and nodes with parents: the node of a higher number is nearer to the root, the last one."""
    n = draw(st.integers(1, 9))
    m = draw(st.integers(1, 6))
    parents = [draw(st.integers(n, n + m - 1)) for _ in range(n)]
    parents += [draw(st.integers(node + 1, n + m - 1)) for node in range(n, n + m - 1)]
    labels = [draw(st.sampled_from(["N", "V-HD", "$,", "P-MO"])) for _ in range(n)]
    labels += [draw(st.sampled_from(["NP", "S-HD", "VP-OC", "PP"])) for _ in range(m)]
    used = set(parents)
    while unused := [node for node in range(n, n + m - 1) if node not in used]:  # each phrase has words
        for node in reversed(unused):
            del labels[node]
            del parents[node]
            parents = [up - (up > node) for up in parents]
        m = len(labels) - n
        used = set(parents)
    return [f"w{k}" for k in range(n)], labels, [*parents, -1]


@given(graphs())
def test_words_their_order_and_labels_are_kept(graph):
    words, labels, parents = graph
    tree, _ = tree_of_graph(words, labels, parents, len(labels) - 1)
    assert list(tree.words) == words
    assert Counter(node.label for node in tree.preorder()) == Counter(labels)
    assert list(tree.tags) == labels[: len(words)]
    (again,) = sentences("".join(written([TreeOfFile(tree)], NAMES["export"])))
    assert (again.tree[0] if len(again.tree) == 1 else again.tree, again.n_moved) == (tree, 0)


TREES = [
    "(VROOT (S (NP-SBJ (NN rain)) (VP-HD (VBZ falls) (PP-LOC (IN on) (NP (NNP Oslo))))) (. .))",
    '(VROOT (NP (`` ") (NN per-U0020-cent) (CD #12) (SYM %%) (NN \\"a\\") (XX <&\'>)) (NN #500))',
    "(VROOT (NN single))",
    "(VROOT (S (NP=2 (-NONE- *T*-1)) (X -\\LRB-) (-LRB- -LRB-) (-RRB- -RRB-) (Y \\``) (Z '')))",
]


@pytest.mark.parametrize("name", NAMES)
def test_trees_survive_and_files_are_the_same_byte_for_byte(name):
    one, trees = NAMES[name], list(map(Tree.from_string, TREES))
    text = "".join(written(map(TreeOfFile, trees), one))
    found = sentences(text)
    assert [str(one.tree) for one in found] == list(map(str, trees))
    assert "".join(written(found, one)) == text


def test_a_tree_with_moved_nodes_is_not_written_as_if_they_had_been_there():
    assert "(VP-OC(AVP-MO*" in "".join(written(sentences(BARE), NAMES["conll"]))
    for name in ("export", "discbracket", "tiger"):
        with pytest.raises(IncparseError, match="x:1: branches cross in this sentence"):
            list(written(sentences(BARE), NAMES[name]))


@pytest.mark.parametrize(
    ("category", "edge", "label"),
    [("NP", "SB", "NP-SB"), ("NP", "--", "NP"), ("R-SIMPX", "OA-MOD", "R_SIMPX-OA-MOD"), ("NP-SBJ-1", "--", "NP-SBJ-1"),
     ("-LRB-", "PU", "-LRB-"), ("NP", "=2", "NP=2"), ("$,", "--", "$,")],
)  # fmt: skip
def test_edge_labels_are_functions(category, edge, label):
    assert with_edge(category, edge) == label


BOMB = '<?xml version="1.0"?>\n<!DOCTYPE corpus [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>\n<corpus><s id="1"/></corpus>\n'
FOREIGN = '<!DOCTYPE corpus [\n<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<corpus><s id="1"><graph/></s></corpus>\n'


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        (EXPORT_4.replace("OC\t502", "OC\t500"), "x:15", "is its own ancestor"),
        (EXPORT_4.replace("SB\t502", "SB\t509"), "x:9", "no parent '509'"),
        (EXPORT_4.replace("#EOS 17", "#501 -- X -- -- 0\n#EOS 17"), "x:16", "twice"),
        (EXPORT_4.replace("#EOS 17", "#EOS 18"), "x:6", "#EOS 17"),
        (EXPORT_4.replace("#EOS 17", ""), "x:6", "expected #EOS"),
        (EXPORT_4.replace("HD\t500", "HD\t501"), "x:15", "the node 500 has no words below it"),
        (EXPORT_4.replace("SB\t502", "SB\tx"), "x:9", "columns; expected"),
        (EXPORT_4.replace("#500", "#50"), "x:15", "the word '#50' after nodes"),
        (EXPORT_4.replace("#FORMAT 4", "#FORMAT 7"), "x:1", "'#FORMAT 7' outside a sentence"),
        (EXPORT_3.replace("VVFIN", ""), "x:4", "4 columns"),
        ("#FORMAT 4\n", "x:1", "no trees"),
        (BOMB, "x:2", "declares the entity 'a'"),
        (FOREIGN, "x:2", "declares the entity 'a'"),
        (TIGER.replace('idref="s17_4"', 'idref="s17_9"'), "x:19", "'s17_9', which does not exist"),
        (TIGER.replace('idref="s17_4"', 'idref="s17_5"'), "x:19", "a second one"),
        (TIGER.replace('t:t id="s17_4"', 't:t id="s17_3"'), "x:19", "'s17_4', which does not exist"),
        (TIGER.replace('t:t id="s17_4"', 't:tt id="s17_4"'), "x:10", "<tt> in a sentence"),
        (TIGER.replace('root="s17_VROOT"', 'root="s17_9"'), "x:5", "the root 's17_9'"),
        (TIGER.replace(' word="lange"', ""), "x:10", "expected id, word and pos"),
        (TIGER.replace("</t:s>", ""), "x:23", "the XML is damaged"),
        (WITHOUT_ROOT.replace("<graph>", "<graph></graph><graph>"), "x:1", "expected one graph"),
        (WITHOUT_ROOT.replace("<body>", '<subcorpus external="file:b.xml"/><body>'), "x:1", "name that file"),
        (BARE.replace("nachgedacht .", "nachgedacht"), "x:1", "5 behind it"),
        (DISC.replace("3=lange", "1=lange"), "x:2", "the index '1=hat'"),
        (DISC.replace("0=#LRB#", "2=#LRB#"), "x:3", "the index '2=#LRB#'"),
        (DISC.replace("(UH 0=Yes)", "(UH Yes)"), "x:4", "the index 'Yes'"),
        (DISC.replace("(UH 0=Yes)", "(UH 0=Yes"), "x:4", "expected ')'"),
        (CONLLU.replace("Tree=*))", "Tree=*)"), "x:1", "closing bracket"),
        (CONLLU.replace("Tree=*))", "_"), "x:9", "expected brackets such as"),
        (CONLLU.replace("\n3\t", "\n5\t"), "x:8", "expected word 3"),
        (CONLL.replace("(VP*", "VP*"), "x:3", "expected word 1 in the columns of CoNLL-2012"),
        (CONLL.replace("   1   ", "   7   "), "x:3", "expected word 1"),
        (CONLL.replace("(INTJ*)", "(INTJ*"), "x:8", "closing bracket"),
    ],
)  # fmt: skip
def test_damaged_files(text, place, what):
    assert re.match(rf"{place}:\d+: ", message(text)), message(text)
    assert what in message(text)
    log = SkipLog()
    sentences(text, skip_bad=log)
    assert len(log) >= 1


def test_a_wrong_encoding_is_named_with_its_place(tmp_path):
    (tmp_path / "a.export").write_bytes(EXPORT_4.encode("latin-1"))
    with pytest.raises(TreebankError, match=r"a\.export:7:4: byte 0xfc is not UTF-8"):
        read_treebank(tmp_path / "a.export")


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_an_error_with_a_place_or_has_only_words_of_its_text(name):
    chance = random.Random(name)
    for _ in range(int(os.environ.get("INCPARSE_MUTATIONS", "500"))):
        text = damaged(FILES[name][0], chance)
        if not (found := sentences_of_text(text, "x", log := SkipLog())):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trees = [one.tree for one in found]
        assert all(error.line >= 1 and error.column >= 1 for error in log)
        raw = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        raw = re.sub(r"\s+", " ", raw.replace("\\/", "/").replace("\\*", "*").replace("|", "/"))
        for tree in trees:
            for word, tag in zip(tree.words, tree.tags, strict=True):
                assert (
                    all(part in raw for part in re.split(r"[][(){}]", re.sub(r"\s+", " ", word.replace("|", "/"))))
                    or '"' in word
                ), (text, word)
                assert re.split("[-=]", tag)[0].replace("|", "/") in raw or "_" in tag
