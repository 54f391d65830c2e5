"""Files that are written back: byte for byte where nobody changed a tree, and in the dialect where someone did."""

import gzip
import warnings

import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.reader import read_trees
from spacy_incparse.treebanks.treebank_file import TreebankFile
from spacy_incparse.trees.tree import Tree
from tests.treebanks.dialect_files import SAMPLES

EXPORT_4 = """\
#FORMAT 4
%% word\tlemma\ttag\tmorph\tedge\tparent\tsecedge
#BOS 17 2 899973978 0 %% a comment
Darüber\tdarüber\tPROAV\t--\tMO\t501
hat\thaben\tVAFIN\t3.Sg\tHD\t0
nachgedacht\tnachdenken\tVVPP\t--\tHD\t501
#501\t--\tVP\t--\tOC\t0
#EOS 17
#BOS 18 0 0 0
Regen\t\tregen\tNN\tNom.Sg\tSB\t500\t%% wet
%% between the lines
fällt\tfallen\tVVFIN\t3.Sg\tHD\t500\tSB\t500
.\t.\t$.\t--\t--\t0
#500\t--\tS\t--\t--\t0
#EOS 18
"""
TIGER = """\
<?xml version="1.0" encoding="ISO-8859-1"?>
<t:corpus id="mine" xmlns:t="http://example.org/t"><t:body>
<t:s id="s1">
  <t:graph root="s1_500">
    <t:terminals>
      <t:t id="s1_1" word="Ähren" lemma="Ähre" pos='NN'/><t:t id="s1_2" word="&lt;reifen" pos="VVFIN">
        <t:secedge label="SB" idref="s1_500"/></t:t>
    </t:terminals>
    <t:nonterminals>
      <t:nt id="s1_500" cat="S"><t:edge label="SB" idref="s1_1"/><t:edge label="HD" idref="s1_2"/></t:nt>
    </t:nonterminals>
  </t:graph>
</t:s>
<t:s id="s2"><t:graph root="s2_1"><t:terminals><t:t id="s2_1" word="Nein" pos="PTKANT"/></t:terminals>
<t:nonterminals/></t:graph></t:s>
</t:body></t:corpus>
"""
CONLLU = """\
# sent_id = one
1-2\tZum\t_\t_\t_\t_\t_\t_\t_\t_
1\tzu\t_\tADP\tIN\t_\t2\tcase\t_\tSpaceAfter=No|Tree=(PP*
2\tTor\t_\tNOUN\tNN\t_\t0\troot\t_\tTree=(NP*))|Gloss=gate

1\tnun\tnun\tNADV\t_\t_\t0\troot\t_\tTree=(S(NP*))
"""
FORMATS = {
    "export 4": EXPORT_4,
    "export 3": "#BOS 3 0 0 0\nRegen   NN   --  SB  500\nsagt    VVFIN  --  HD  500\n#500    S    --  --  0\n#EOS 3\n",
    "tiger": TIGER, "conllu": CONLLU,
    "discbracket": "(S (NP 0=Rain) (V 1=falls))\n# none\n(S (NP 1=Ivy) (V 0=grows))\n(S (X (N 0=a) (N 2=c)) (V 1=b))\n",
    "conll": "#begin document (a)\na 0  0   Rain  NN  (S(NP*)  -\na 0  1  falls VBZ  (VP*))  -\n\n#end document\n",
    "indices": "(S (NP 0) (VP (V 1)))\tRain falls\n",
}  # fmt: skip
KEPT = {
    "export 4": ["Darüber\tdarüber\tPROAV", "Regen\tregen\tXNN\tNom.Sg\tSB\t500\t%% wet", "%% between", "a comment"],
    "export 3": ["#BOS 3 0 0 0\n"],
    "tiger": ['lemma="Ähre"', 'word="&lt;reifen"', '<t:corpus id="mine"'],
    "conllu": ["1-2\tZum", "SpaceAfter=No|Tree=(XPP*", "|Gloss=gate", "2\tcase", "XNADV\t_\t"],
    "conll": ["a 0  0   Rain  XNN  (XS(XNP*)  -\n", "#end document"],
    "discbracket": ["# none", "(S (X (N 0=a) (N 2=c)) (V 1=b))"], "indices": ["(XS (XNP 0=Rain)"],
}  # fmt: skip


@pytest.fixture(params=SAMPLES)
def sample(request):
    return SAMPLES[request.param]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r", "mixed"])
def test_what_nobody_changed_is_written_byte_for_byte(tmp_path, sample, ends):
    text = sample.text.replace("\n", "\r\n", 3) if ends == "mixed" else sample.text.replace("\n", ends)
    data = text.encode(sample.encoding)
    (tmp_path / "in.psd").write_bytes(data)
    file = TreebankFile(tmp_path / "in.psd")
    assert list(file.forest()) == trees_of(file) == list(read_trees(tmp_path / "in.psd"))
    assert file.data() == data
    (tmp_path / "in.psd.gz").write_bytes(gzip.compress(data))
    assert gzip.decompress(TreebankFile(tmp_path / "in.psd.gz").data()) == data


def test_a_byte_order_mark_and_a_missing_end_of_line_stay(tmp_path):
    data = b"\xef\xbb\xbf(S (NP (PRP We)) (VP (VBP row)))"
    (tmp_path / "in.mrg").write_bytes(data)
    assert TreebankFile(tmp_path / "in.mrg").data() == data


def test_a_changed_tree_is_the_same_when_it_is_read_again(tmp_path, sample):
    path = tmp_path / "in.psd"
    path.write_bytes(sample.text.encode(sample.encoding))
    file = TreebankFile(path)
    changed = [tree.map_labels(marked, tags=False) for tree in trees_of(file)]
    for number, tree in enumerate(changed):
        file.put(number, tree)
    path.write_bytes(file.data())
    again = TreebankFile(path, dialect=file.dialect)
    assert trees_of(again) == changed


def marked(label):
    return f"{label}X" if label[:1] in "NSV" else label


def trees_of(file):
    return [file.tree(number) for number in range(len(file))]


@pytest.mark.parametrize("name", ["export 3", "export 4", "tiger", "conllu", "conll", "discbracket", "indices"])
def test_other_formats_are_written_as_they_came(tmp_path, name):
    text = FORMATS[name]
    path = tmp_path / "in.file"
    path.write_bytes(text.encode("latin-1" if name == "tiger" else "utf8"))
    file = TreebankFile(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of crossing branches
        read = list(read_trees(path))
    assert trees_of(file) == list(file.forest()) == read
    assert file.data() == path.read_bytes()
    changed = [tree.map_labels(lambda label: f"X{label}" if label[0] in "NSPV" else label) for tree in trees_of(file)]
    changed = [Tree.from_string(str(tree).replace("XVROOT", "VROOT")) for tree in changed]
    for number, tree in enumerate(changed):
        if why := file.fixed(number):
            changed[number] = file.published(number)
            assert "cross" in why
            with pytest.raises(IncparseError, match="cross"):
                file.put(number, tree)
        else:
            assert tree != file.published(number)
            file.put(number, tree)
    path.write_bytes(file.data())
    again = TreebankFile(path)
    assert trees_of(again) == changed
    for kept in KEPT[name]:
        assert kept.encode("latin-1" if name == "tiger" else "utf8") in path.read_bytes()


def test_mark_up_and_lemmas_stay_in_a_changed_tree(tmp_path):
    path = tmp_path / "in.psd"
    path.write_text(SAMPLES["penn-helsinki"].text, encoding="utf8")
    file = TreebankFile(path)
    file.put(0, file.tree(0).map_labels(lambda label: "NP-MSR" if label == "NP-TMP" else label))
    text = file.data().decode()
    for part in [
        "(N-N bátur$-bátur)", "(CODE {COM:unsure}) (VBDI", "(NP-MSR (NS-D suður-dögum-suður-dagur) (CODE <P_3>))",
        "(C 0)", "(NP-SBJ-1 *con*)", "blés-blása) *ICH*-1)", "(ID 1902.BATUR,.2))",
    ]:  # fmt: skip
        assert part in text


def test_an_encoding_that_lacks_a_character_is_an_error(tmp_path):
    path = tmp_path / "in.psd"
    path.write_bytes(SAMPLES["floresta"].text.encode("latin-1"))
    file = TreebankFile(path)
    file.put(0, file.tree(0).map_labels(lambda label: label.replace("np", "名詞")))
    with pytest.raises(IncparseError, match="名"):
        file.data()


@pytest.mark.treebanks
@pytest.mark.parametrize(
    "pattern", ["greynir/*_0000*.gld", "icepahc/1888*.psd", "keyaki/*.psd", "masc/raw/sw*", "wsj/dev.mrg"]
)
def test_real_files_are_written_byte_for_byte(treebanks, pattern):
    paths = sorted(treebanks.glob(pattern))
    if not paths:
        pytest.skip(f"there is no {pattern}")
    for path in paths:
        assert TreebankFile(path).data() == path.read_bytes()
