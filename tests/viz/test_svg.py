import re
import struct
import sys
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import visible
from spacy_incparse.viz.options import Options
from spacy_incparse.viz.page import STYLES, Entry, Picture, markup
from spacy_incparse.viz.svg import converted, svg
from tests.strategies import deep_tree, raw_trees
from tests.viz.markup import texts

TREE = Tree.from_string("(TOP (S (NP-SBJ (DT The) (NN dog)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))")
HEBREW = Tree.from_string("(TOP (S (NP (NN ילד)) (VP (VB אכל) (NP (NN תפוח) (JJ אדום)))))")
LONG = make_tree("TOP", [make_tree("S", [TREE[0]] * 9)])
SVG = "{http://www.w3.org/2000/svg}"


def places(picture):
    """The position of each separate text, from left to right."""
    return [text for _, text in sorted(_words(picture))]


def test_words_labels_and_tags_are_drawn():
    picture = svg(TREE)
    assert set(texts(picture)) == {*TREE.words, *TREE.tags, "TOP", "S", "NP-SBJ", "VP", "PP", "NP"}
    assert TREE.to_svg() == picture == TREE._repr_svg_()
    assert picture in TREE._repr_html_()
    root = ElementTree.fromstring(picture)
    assert (root.get("role"), root.get("aria-label")) == ("img", "The dog sat on the mat .")
    assert "VBD" not in texts(svg(TREE, tags=False))


def test_a_long_sentence_is_drawn_in_numbered_parts():
    picture = svg(LONG)
    assert len(LONG.words) == 63
    assert float(ElementTree.fromstring(picture).get("width")) < 1_150
    assert {"1", "2", "3"} <= set(texts(picture))
    whole = svg(LONG, width=None)
    assert texts(whole).count("mat") == 9
    assert float(ElementTree.fromstring(whole).get("width")) > 2_500


def test_folded_phrases_are_triangles():
    picture = svg(TREE, collapse=["NP"], collapse_length=2)
    assert {"The dog", "the mat"} <= set(texts(picture))
    assert "DT" not in texts(picture)
    assert "on the mat" in texts(svg(TREE, collapse_depth=3))
    assert "sat on the mat" in texts(svg(TREE, collapse_length=4))


def test_right_to_left_trees_are_mirrored():
    words = ["אדום", "תפוח", "אכל", "ילד"]
    assert [text for text in places(svg(HEBREW)) if text in words] == words
    assert [text for text in places(svg(HEBREW, direction="ltr")) if text in words] == words[::-1]
    assert 'direction="rtl"' in svg(HEBREW)


def test_colours_are_the_same_everywhere_and_can_be_given():
    fills = [re.findall(r'fill="(#\w+)"/><text[^>]*>NP', picture) for picture in (svg(TREE), svg(TREE[0][1]))]
    assert set(fills[0]) == set(fills[1])
    assert 'fill="gold"/>' in svg(TREE, colors={"NP": "gold"})
    assert svg(TREE, colors={"NP-SBJ": "gold"}).count('"gold"') == 1
    assert svg(TREE, colors={"NP": "gold"}).count('"gold"') == 2
    assert "color:red" in svg(TREE, color="red", bg="white")
    assert "background:white" in svg(TREE, color="red", bg="white")


def test_arrows_lead_from_traces_to_their_antecedents():
    printed = "(TOP (S (NP-SBJ-1 (PRP She)) (VP (VBZ wants) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB go)))))))"
    tree = Tree.from_string(printed).remove_empties()
    assert 'class="arrows"' not in svg(tree)
    picture = svg(tree, traces=True)
    assert {"NP-SBJ-1", "*-1"} <= set(texts(picture))
    at = {text: x for x, text in _words(picture)}
    ((start, end),) = re.findall(r'<path d="M(\d+),\d+C\d+,\d+ \d+,\d+ (\d+),', picture)
    assert (int(start), int(end)) == (at["*-1"], at["She"])


def _words(picture):
    return [(int(x), text) for x, text in re.findall(r'<text x="(-?\d+)" y="\d+">([^<]*)<', picture)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "red"}, "unknown option 'colour' for pictures: did you mean 'color'"),
        ({"distance": 90}, "choose from width, "),
        ({"width": "wide"}, "\"width\" is 'wide'; it must be a whole number from 100, or None"),
        ({"collapse_depth": 0}, '"collapse_depth" is 0'),
        ({"collapse": "NP"}, "\"collapse\" must be a list of labels, such as ['NP'], not 'NP'"),
        ({"direction": "left"}, '"direction" is \'left\'; it must be "ltr", "rtl" or None'),
        ({"bg": "url(http://example.org)"}, "'url(http://example.org)', given for 'bg', is not a valid value"),
        ({"colors": {"NP": "red;display:none"}}, "'red;display:none', given for 'NP', is not a valid value in a style"),
        ({"font": "x</style>"}, "not a valid value in a style"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ConfigError) as error:
        svg(TREE, **options)
    assert message in str(error.value)


@given(raw_trees())
@settings(max_examples=50, deadline=None)
def test_every_tree_is_a_well_formed_document(tree):
    for style in ("tree", "spans"):
        found = texts(markup(Picture([[Entry(tree)]]), style))
        assert {visible(word) for word in tree.words} <= set(found)


@pytest.mark.parametrize("style", STYLES)
def test_deep_and_long_trees(style):
    for tree in (deep_tree(5_000), make_tree("S", [make_tree("NN", "word") for _ in range(5_000)])):
        picture = markup(Picture([[Entry(tree)]]), style)
        assert len(picture) < 40_000_000
        assert picture.count("dog") + picture.count("word") >= 5_000


def test_spans_stand_under_their_words_small_ones_first():
    picture = markup(Picture([[Entry(TREE)]]), "spans")
    rows = re.findall(r'<g class="phrase" data-node="\d+"><rect x="\d+" y="(\d+)".*?>([\w-]+)</text>', picture)
    tops = {label: int(y) for y, label in rows}
    assert tops["NP"] < tops["PP"] < tops["VP"] < tops["S"] < tops["TOP"]
    only = markup(Picture([[Entry(TREE)]], Options(labels=("NP",))), "spans")
    assert [text for text in texts(only) if text.isupper()] == ["NP-SBJ", "NP"]
    picture = markup(Picture([[Entry(LONG)]]), "spans")
    assert int(ElementTree.fromstring(picture).get("width")) <= 1_020
    assert len(re.findall(r'<g class="phrase" data-node="0">', picture)) == 2


def test_brackets_enclose_their_words():
    text = re.sub(r"<[^>]*>", "", markup(Picture([[Entry(TREE)]]), "brackets"))
    assert " ".join(text.split()) == "[TOP [S [NP-SBJ TheDT dogNN] [VP satVBD [PP onIN [NP theDT matNN]]] ..]]"
    only = markup(Picture([[Entry(TREE)]], Options(labels=("PP",), tags=False)), "brackets")
    assert " ".join(re.sub(r"<[^>]*>", "", only).split()) == "The dog sat [PP on the mat] ."


def test_pictures_for_which_cairosvg_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(IncparseError, match=r'PNG and PDF need cairosvg, .* pip install "spacy-incparse\[pictures\]"'):
        converted("<svg/>", "png")
    with pytest.raises(ConfigError, match="format of a picture is 'gif': it must be one of png, pdf"):
        converted("<svg/>", "gif")


@pytest.mark.extras
def test_pictures_of_cairosvg():
    pytest.importorskip("cairosvg")
    picture = make_tree("NP", [make_tree("NN", "rain")]).to_svg()
    width, height = (int(ElementTree.fromstring(picture).get(name)) for name in ("width", "height"))
    png = converted(picture, "png", scale=3)
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", png[16:24]) == (3 * width, 3 * height)
    assert converted(picture, "pdf").startswith(b"%PDF-")
