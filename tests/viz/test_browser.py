"""The page in a browser: folding, searching, hovering, keys, colours. Run by `pytest -m browser` alone."""

import json
import os
import re
import shutil
import subprocess
from urllib.parse import unquote

import pytest

from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.options import Options
from spacy_incparse.viz.page import Entry, Picture, page
from tests.viz.markup import HOSTILE, hostile_tree

pytestmark = pytest.mark.browser

TREE = Tree.from_string("(TOP (S (NP (DT The) (NN dog)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))")
OTHER = Tree.from_string("(TOP (S (NP (DT The) (JJ old) (NN cat)) (VP (VBD left)) (. .)))")
HEBREW = Tree.from_string("(TOP (S (NP (NN ילד)) (VP (VB אכל) (NP (NN תפוח) (JJ אדום)))))")
LONG = make_tree("TOP", [make_tree("S", [TREE[0]] * 9)])

# What the scripts of tests use. `visible`: what is seen of a tree, from left to right.
PRELUDE = """
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const visible = (selector, within = document) => all(selector, within)
  .filter((e) => e.getClientRects().length && e.textContent)
  .sort((a, b) => a.getBoundingClientRect().x - b.getBoundingClientRect().x).map((e) => e.textContent);
const plate = (label, within = document) => all(".labels > g", within).find((e) => e.textContent === label);
const click = (element) => element.dispatchEvent(new MouseEvent("click", { bubbles: true }));
const enter = (element) => element.dispatchEvent(new MouseEvent("mouseenter"));
const leave = (element) => element.dispatchEvent(new MouseEvent("mouseleave"));
const key = (name, options = {}) => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true, ...options }));
const search = (text) => {
  const input = document.querySelector("input[type=search]");
  input.value = text;
  input.dispatchEvent(new Event("input"));
  return document.querySelector("output").textContent;
};
"""


@pytest.fixture(scope="module")
def dom(tmp_path_factory):
    """A function that returns the document of a page as it is after its program has run in headless Chromium."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    folder = tmp_path_factory.mktemp("browser")
    flags = ["--headless", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--window-size=1000,800"]
    if os.geteuid() == 0:
        flags.append("--no-sandbox")  # Chromium refuses to run as root with one
    command = [program, *flags, f"--user-data-dir={folder / 'profile'}", "--dump-dom", (folder / "page.html").as_uri()]

    def _dom(html):
        (folder / "page.html").write_text(html, encoding="utf8")
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout

    return _dom


@pytest.fixture
def run(dom):
    """A function that returns what a function body gives that runs in the page after its own program.

    Errors of either fail. The page's policy forbids programs of others, and is taken out for that.
    """

    def _run(html, script):
        prelude = "const errors = []; addEventListener('error', (event) => errors.push(event.message));"
        policy = r'<meta http-equiv="Content-Security-Policy"[^>]*>\n'
        html = re.sub(policy, f"<script>{prelude}</script>", html, count=1)
        show = (
            f"{PRELUDE}\nlet value = null;"
            f"try {{ value = (() => {{ {script} }})(); }} catch (error) {{ errors.push(error.stack); }}"
            "const result = document.createElement('pre'); result.id = 'result';"
            "result.textContent = encodeURIComponent(JSON.stringify({ value, errors })); document.body.append(result);"
        )
        found = dom(html.replace("</body>", f"<script>{{ {show} }}</script></body>"))
        result = json.loads(unquote(re.search(r'<pre id="result">([^<]*)</pre>', found)[1]))
        assert result["errors"] == []
        return result["value"]

    return _run


def page_of(*trees, style="tree", options=None):
    return page([Picture([[Entry(tree)]], options or Options()) for tree in trees], style)


def test_nothing_overlaps_whatever_is_folded(run):
    script = """
    const overlaps = () => {
      const boxes = all(".labels > g, .words > text, .roof text").map((e) => e.getBoundingClientRect());
      const meet = (a, b) => a.width && b.width && a.left < b.right - 1 && b.left < a.right - 1
        && a.top < b.bottom - 3 && b.top < a.bottom - 3;
      return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => meet(a, b))).length;
    };
    const counts = [overlaps()];
    for (const phrase of all(".labels > .phrase").reverse()) { click(phrase); counts.push(overlaps()); }
    for (const phrase of all(".labels > .phrase")) { click(phrase); counts.push(overlaps()); }
    return counts;
    """
    for tree in (TREE, HEBREW, LONG):
        counts = run(page_of(tree), script)
        assert len(counts) > 8
        assert not any(counts)


def test_keys_walk_and_fold(run):
    found = run(
        page_of(TREE),
        """
        const here = () => document.activeElement.getAttribute("aria-label");
        const seen = [];
        plate("TOP").focus();
        for (const name of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowRight", "Enter"]) {
          key(name);
          seen.push(here());
        }
        seen.push(visible(".words text").join("|"));
        key("ArrowDown"); seen.push(here());
        key(" "); seen.push(visible(".words text").length);
        key("ArrowUp"); key("ArrowUp"); seen.push(here());
        key("Home"); seen.push(here(), all("[tabindex='0']", document.querySelector("svg")).length);
        return seen;
        """,
    )
    sentence = "The dog sat on the mat ."
    assert found == [
        f"S: {sentence}", "NP: The dog", "VP: sat on the mat", "NP: The dog", "VP: sat on the mat",
        "VP: sat on the mat", "The|dog|sat on the mat|.", "VP: sat on the mat", 7, f"TOP: {sentence}",
        f"TOP: {sentence}", 1,
    ]  # fmt: skip


def test_labels_are_found_and_enter_goes_on(run):
    found = run(
        page_of(TREE, OTHER),
        """
        const seen = [search("NP"), all(".labels .hit").length];
        const input = document.querySelector("input[type=search]");
        click(plate("VP"));
        input.focus();
        for (const options of [{}, {}, {}, {}, { shiftKey: true }]) {
          key("Enter", options);
          seen.push(document.querySelector("output").textContent);
        }
        seen.push(plate("VP").getAttribute("aria-expanded"), all("figure").map((e) => e.classList.contains("current")));
        return seen;
        """,
    )
    numbers = [f"{n} of 3 hits" for n in (1, 2, 3, 1, 3)]
    assert found == ["3 hits", 3, *numbers, "true", [False, True]]


def test_a_word_shows_its_way_to_the_root_and_a_phrase_its_words(run):
    found = run(
        page_of(TREE),
        """
        const word = all(".text span")[3];
        enter(word);
        const seen = [all(".labels .on").map((e) => e.textContent), all(".edges .on").length,
          all(".words .on").map((e) => e.textContent), document.querySelector(".path").textContent];
        leave(word);
        seen.push(all(".on").length, document.querySelector(".path").textContent);
        enter(plate("PP"));
        return [...seen, all(".text .on").map((e) => e.textContent), document.querySelector(".path").textContent];
        """,
    )
    assert found[:4] == [["TOP", "S", "VP", "PP", "IN"], 4, ["on"], "TOP › S › VP › PP › IN · 1 word: on"]
    assert found[4:] == [0, "", ["on", "the", "mat"], "TOP › S › VP › PP · 3 words: on the mat"]


@pytest.mark.parametrize("style", ["brackets", "spans"])
def test_the_other_styles_are_searched_and_hovered(run, style):
    found = run(
        page_of(TREE, style=style),
        """
        const seen = [search("the mat"), search("NP"), all(".hit").length];
        enter(document.querySelector("[data-node='7']"));
        return [...seen, document.querySelector(".path").textContent, all(".on").map((e) => e.textContent)];
        """,
    )
    # A bracket has two ends.
    on = ["[TOP", "[S", "[VP", "[PP", "onIN", "theDT", "matNN", "]", "]", "]", "]"]
    n_hits, on = (4, on) if style == "brackets" else (2, ["on", "the", "mat", "TOP", "S", "VP", "PP"])
    assert found[:3] == ["1 hit", "2 hits", n_hits]
    assert found[3] == "TOP › S › VP › PP · 3 words: on the mat"
    assert sorted(found[4]) == sorted(on)


def test_what_the_options_collapse_is_folded_at_first(run):
    found = run(
        page_of(TREE, options=Options(collapse=("NP",), tags=False)),
        """
        const folded = visible(".words text");
        click(document.querySelector("[data-action=unfold]"));
        const open = visible(".words text");
        click(document.querySelector("[data-action=foldAll]"));
        return [folded, open, visible(".words text"), visible(".tag text")];
        """,
    )
    assert found[:2] == [["The dog", "sat", "on", "the mat", "."], list(TREE.words)]
    assert found[2:] == [["The dog", "sat on the mat", "."], []]


def test_right_to_left(run):
    found = run(
        page_of(HEBREW),
        """
        const whole = visible(".words text");
        click(all(".labels > g").filter((e) => e.textContent === "NP")[1]);
        ["Home", "ArrowDown", "ArrowDown", "ArrowLeft"].forEach((name) => key(name));
        return [whole, visible(".words text"), document.activeElement.textContent];
        """,
    )
    assert found == [["אדום", "תפוח", "אכל", "ילד"], ["תפוח אדום", "אכל", "ילד"], "VP"]


def test_no_text_runs_as_a_program(run):
    html = page([Picture([[Entry(hostile_tree(text), text)]], title=text) for text in HOSTILE], title=HOSTILE[0])
    found = run(
        html,
        """
        for (const item of all(".labels > g")) { enter(item); click(item); }
        HOSTILE.forEach(search);
        return [all("script").length, all("img, iframe, object, embed, link, style, base").map((e) => e.tagName),
          all("*").filter((e) => [...e.attributes].some((a) => a.name.startsWith("on"))).length];
        """.replace("HOSTILE", "all('.labels text').map((e) => e.textContent)"),
    )
    assert found == [3, ["STYLE"], 0]  # the page's own program, and the two of this test


def test_the_policy_lets_only_the_page_s_own_program_run(dom):
    html = page_of(TREE).replace(
        "</body>", "<script>document.title = 'run';</script><img src=x onerror='document.title=1'></body>"
    )
    found = dom(html)
    assert 'role="tree"' in found
    assert re.search(r"<title>(.*?)</title>", found)[1] == "Trees"
    small = dom(page([Picture([[Entry(TREE)]])], minify=True))
    assert 'role="tree"' in small
