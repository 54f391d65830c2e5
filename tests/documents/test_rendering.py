import inspect
import re
import socket
import sys
import threading
from types import ModuleType
from urllib.request import urlopen

import pytest
import spacy
from spacy import displacy
from spacy.tokens import Doc

import spacy_incparse
from spacy_incparse.documents import display as rendering
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.trees.tree import Tree
from tests.viz.markup import HOSTILE, elements, texts

TREE = Tree.from_string("(TOP (S (NP (PRP We)) (VP (VBD saw) (NP (DT the) (NN sea))) (. .)))")


@pytest.fixture(scope="module")
def nlp():
    return spacy_incparse.load("en")


@pytest.fixture(scope="module")
def doc(nlp):
    return nlp("We saw the old sea. It was calm.")


@pytest.fixture
def notebook(monkeypatch):
    """A stand-in for IPython; gives the list of what was displayed."""
    shown: list[str] = []
    package, module = ModuleType("IPython"), ModuleType("IPython.display")
    module.HTML = lambda html: html
    module.display = shown.append
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return shown


def test_signatures_are_displacys():
    for ours, theirs in ((spacy_incparse.render, displacy.render), (spacy_incparse.serve, displacy.serve)):
        own, other = (inspect.signature(function).parameters for function in (ours, theirs))
        assert list(own) == list(other)
        defaults = [parameter.default for name, parameter in own.items() if name != "style"]
        assert defaults == [parameter.default for name, parameter in other.items() if name != "style"]
        assert own["style"].default == "tree"


def test_several_are_one_behind_the_other(doc):
    picture = spacy_incparse.render(doc)
    assert set(texts(picture)) >= {"We", "saw", "the", "old", "sea", "It", "was", "calm", "VP"}
    assert 'xml:lang="en"' in picture
    pictures = spacy_incparse.render([doc, doc[0:6], doc._.trees[1], TREE])
    assert pictures.count("<svg") == 4
    assert pictures == spacy_incparse.render(iter([doc, doc[0:6], doc._.trees[1], TREE]))
    assert spacy_incparse.render([]) == ""
    assert picture == spacy_incparse.render(doc, options=None) == spacy_incparse.render(doc, options={"collapse": None})


def test_of_a_span_its_node_or_its_sentences(doc):
    assert "VP" not in texts(spacy_incparse.render(doc[2:5]))
    assert {"NP", "the", "old", "sea"} <= set(texts(spacy_incparse.render(doc[2:5])))
    assert "calm" not in texts(spacy_incparse.render(doc[1:3]))
    assert "We" in texts(spacy_incparse.render(doc[1:3]))
    assert {"We", "calm"} <= set(texts(spacy_incparse.render(doc[1:8])))


def test_styles(doc):
    assert spacy_incparse.render(doc, style="spans").startswith("<svg")
    assert spacy_incparse.render(doc, style="brackets").startswith("<div")
    with pytest.raises(ConfigError, match="the style of pictures is 'dep': it must be one of tree, brackets, spans"):
        spacy_incparse.render(doc, style="dep")
    with pytest.raises(ConfigError, match="unknown option 'colour'"):
        spacy_incparse.render(doc, options={"colour": {}})


@pytest.mark.parametrize("style", ["tree", "brackets", "spans"])
def test_pages(doc, style):
    page, small = (spacy_incparse.render([doc, doc], style=style, page=True, minify=minify) for minify in (False, True))
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<figure") == 4
    assert len(small) < len(page)
    assert elements(small) == elements(page)
    markup, small = (spacy_incparse.render(doc, style=style, minify=minify) for minify in (False, True))
    assert re.sub(r">\s+<", "><", small) == re.sub(r">\s+<", "><", markup)


def test_titles_are_shown(doc):
    titled = doc.copy()
    titled.user_data["title"] = HOSTILE[0]
    for style in ("tree", "brackets", "spans"):
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in spacy_incparse.render(titled, style=style)
        assert ("script", None) not in elements(spacy_incparse.render(titled, style=style))
    assert "<h2>&lt;script&gt;" in spacy_incparse.render(titled, page=True)


def test_the_best_trees_side_by_side(doc):
    picture = spacy_incparse.render(doc, options={"nbest": 2})
    captions = [text for text in texts(picture) if "score" in text]
    assert [caption[0] for caption in captions][:2] == ["1", "2"]
    page = spacy_incparse.render(doc[0:6], page=True, options={"nbest": 3})
    assert page.count("<figure") == 3
    assert page.count('<div class="row">') == 1


def test_a_comparison_with_gold_trees(doc):
    gold = [str(tree) for tree in doc._.trees]
    gold[0] = gold[0].replace("(NP (DT the)", "(XP (DT the)")
    picture = spacy_incparse.render(doc, options={"gold": gold})
    assert {"~ XP", "~ NP", "gold"} <= set(texts(picture))
    assert "parsed: no difference · P 100.0 R 100.0 F 100.0" in texts(picture)
    one = spacy_incparse.render(doc[0:6], options={"gold": Tree.from_string(gold[0])})
    assert "~ XP" in texts(one)
    assert "no difference" in spacy_incparse.render(doc, options={"gold": doc})
    with pytest.raises(IncparseError, match="fewer trees than there are trees to draw"):
        spacy_incparse.render(doc, options={"gold": gold[:1]})
    with pytest.raises(IncparseError, match="more trees than there are trees to draw"):
        spacy_incparse.render(doc, options={"gold": [*gold, gold[0]]})


@pytest.mark.parametrize(
    "given", [{"tree": str(TREE)}, {"tree": TREE}, {"trees": [str(TREE)]}, {"tree": TREE.to_dict()}, TREE.to_dict()]
)
def test_trees_by_hand(given):
    assert spacy_incparse.render(given, manual=True) == spacy_incparse.render(TREE)
    assert spacy_incparse.render([given], manual=True) == spacy_incparse.render(TREE)
    settings = {"lang": "he", "direction": "rtl"}
    picture = spacy_incparse.render(given | {"title": "T", "settings": settings}, manual=True)
    assert 'xml:lang="he"' in picture
    assert 'direction="rtl"' in picture
    assert "T" in texts(picture)


def test_what_cannot_be_drawn(doc, nlp):
    for wrong in ({"tree": str(TREE)}, 5, [5]):
        with pytest.raises(IncparseError, match="only a Doc, a Span or a Tree can be drawn, or dicts with manual=True"):
            spacy_incparse.render(wrong)
    with pytest.raises(ConfigError, match="unknown setting 'dir' of a dict to draw: choose from lang, direction"):
        spacy_incparse.render({"tree": str(TREE), "settings": {"dir": "rtl"}}, manual=True)
    for options in ({}, {"nbest": 2}):
        with pytest.warns(UserWarning, match="'Not parsed.' has no tree: parse it first") as warned:
            spacy_incparse.render(nlp.make_doc("Not parsed."), options=options)
        assert warned[0].filename == __file__


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gold": str(TREE), "nbest": 2}, 'the options "gold" and "nbest" exclude each other'),
        ({"gold": 5}, '"gold" is 5; it must be a tree'),
        ({"n_best": 2}, "unknown option 'n_best' for pictures: did you mean 'nbest'"),
        ("collapse", "options is 'collapse'"),
        ({"lang": 5}, '"lang" is 5; it must be the code of a language'),
    ],
)
def test_options_that_cannot_be(doc, options, message):
    with pytest.raises(ConfigError, match=message):
        spacy_incparse.render(doc, options=options)


def test_in_a_notebook_the_picture_is_shown(doc, notebook, monkeypatch):
    assert spacy_incparse.render(doc, jupyter=True) is None
    assert notebook[0].startswith('<div class="tex2jax_ignore"')
    assert "<svg" in notebook[0]
    monkeypatch.setattr(rendering, "is_in_jupyter", lambda: True)
    assert spacy_incparse.render(doc) is None
    assert spacy_incparse.render(doc, jupyter=False).startswith("<svg")
    spacy_incparse.render(doc, page=True, jupyter=True)  # in a frame
    assert elements(notebook[2]) >= {("iframe", "sandbox"), ("iframe", "srcdoc")}
    assert ("script", None) not in elements(notebook[2])


def test_a_wrapper_changes_the_markup(doc):
    spacy_incparse.set_render_wrapper(lambda html: f"<i>{html}</i>")
    try:
        assert spacy_incparse.render(doc).startswith("<i><svg")
    finally:
        spacy_incparse.set_render_wrapper(None)
    assert spacy_incparse.render(doc).startswith("<svg")
    with pytest.raises(IncparseError, match="the render wrapper has to be a function, not 'x'"):
        spacy_incparse.set_render_wrapper("x")


def test_colours_of_the_registry(doc):
    spacy.registry.displacy_colors("incparse_test_colors", func={"NP": "#123456"})
    try:
        assert "#123456" in spacy_incparse.render(doc)
        assert "#123456" not in spacy_incparse.render(doc, options={"colors": {"NP": "#654321"}})
    finally:
        spacy.registry.displacy_colors._entry_points = None
        from catalogue import REGISTRY

        del REGISTRY["spacy", "displacy_colors", "incparse_test_colors"]


@pytest.mark.parametrize(
    ("port", "host", "message"),
    [
        (70000, "127.0.0.1", "port 70000: pass a number from 0 to 65535"),
        (5000, "nowhere.invalid", "port 5000 of 'nowhere.invalid' cannot be served: "),
    ],
)
def test_a_place_that_cannot_be_served(doc, port, host, message):
    with pytest.raises(IncparseError, match=message):
        spacy_incparse.serve(doc, port=port, host=host, auto_select_port=True)


def test_a_doc_without_words_is_nothing_to_warn_of(doc, recwarn):
    assert "<svg" in spacy_incparse.render(Doc(doc.vocab))
    assert not recwarn


@pytest.mark.filterwarnings("ignore:.*already in use")
def test_a_server_serves_the_page(doc, monkeypatch, capsys):
    from wsgiref import simple_server

    pages = []

    class Server(simple_server.WSGIServer):
        def serve_forever(self):
            threading.Thread(target=self.handle_request).start()
            with urlopen(f"http://127.0.0.1:{self.server_port}/", timeout=10) as response:
                pages.append((response.headers["Content-Type"], response.read().decode("utf8")))
            raise KeyboardInterrupt

    monkeypatch.setattr(simple_server.make_server, "__defaults__", (Server, simple_server.WSGIRequestHandler))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = {"port": taken.getsockname()[1], "host": "127.0.0.1"}
        with pytest.raises(IncparseError, match=f"port {place['port']} of 127.0.0.1 is in use: choose another port"):
            spacy_incparse.serve(doc, **place)
        spacy_incparse.serve(doc, **place, auto_select_port=True)
    assert pages == [("text/html; charset=utf-8", spacy_incparse.render(doc, page=True))]
    assert "Serving on http://127.0.0.1:" in capsys.readouterr().out
