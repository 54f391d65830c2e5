"""The page in a browser: folding, searching, hovering, keys, colours. Run by `pytest -m browser` alone."""

import re

import pytest

from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.options import Options
from spacy_incparse.viz.page import Entry, Picture, page
from tests.viz.chromium import Browser
from tests.viz.markup import HOSTILE, hostile_tree

pytestmark = pytest.mark.browser

TREE = Tree.from_string("(TOP (S (NP (DT The) (NN dog)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))")
OTHER = Tree.from_string("(TOP (S (NP (DT The) (JJ old) (NN cat)) (VP (VBD left)) (. .)))")
HEBREW = Tree.from_string("(TOP (S (NP (NN ילד)) (VP (VB אכל) (NP (NN תפוח) (JJ אדום)))))")
LONG = make_tree("TOP", [make_tree("S", [TREE[0]] * 9)])


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    return Browser(tmp_path_factory.mktemp("browser"))


def page_of(*trees, style="tree", options=None):
    return page([Picture([[Entry(tree)]], options or Options()) for tree in trees], style)


def test_as_it_opens_all_is_to_be_seen(browser):
    found = browser.run(
        page_of(TREE),
        """
        const item = plate("PP"), attributes = ["role", "aria-level", "aria-label", "aria-expanded"];
        return [visible(".words text"), visible(".text span"), visible(".labels text"),
          document.querySelector("svg").getAttribute("role"), plate("IN").hasAttribute("aria-expanded"),
          ...attributes.map((name) => item.getAttribute(name))];
        """,
    )
    assert found[:2] == [list(TREE.words)] * 2
    assert sorted(found[2]) == sorted(node.label for node in TREE.preorder())
    assert found[3:] == ["tree", False, "treeitem", "4", "PP: on the mat", "true"]  # for screen readers


def test_a_click_folds_and_unfolds(browser):
    found = browser.run(
        page_of(TREE),
        """
        const before = visible(".labels text").length;
        click(plate("VP"));
        const folded = [visible(".words text"), plate("VP").getAttribute("aria-expanded"), visible(".labels text")];
        click(plate("VP"));
        return [...folded, visible(".words text"), visible(".labels text").length - before];
        """,
    )
    assert found[:2] == [["The", "dog", "sat on the mat", "."], "false"]
    assert sorted(found[2]) == sorted(["DT", "NP", "NN", "TOP", "S", "VP", "."])
    assert found[3:] == [list(TREE.words), 0]


def test_nothing_overlaps_whatever_is_folded(browser):
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
        counts = browser.run(page_of(tree), script)
        assert len(counts) > 8
        assert not any(counts)


def test_keys_walk_and_fold(browser):
    found = browser.run(
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


def test_words_are_found(browser):
    found = browser.run(
        page_of(TREE, OTHER),
        """
        const counts = ["the", "THE DOG", "dog sat on", "mat .", "og", "nothing", ""].map(search);
        search("dog sat");
        return [counts, all(".text .hit").map((e) => e.textContent), all(".words .hit").map((e) => e.textContent)];
        """,
    )
    assert found == [["3 hits", "1 hit", "1 hit", "1 hit", "1 hit", "0 hits", ""], *[["dog", "sat"]] * 2]


def test_labels_are_found_and_enter_goes_on(browser):
    found = browser.run(
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


def test_a_word_shows_its_way_to_the_root_and_a_phrase_its_words(browser):
    found = browser.run(
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
def test_the_other_styles_are_searched_and_hovered(browser, style):
    found = browser.run(
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


def test_what_the_options_collapse_is_folded_at_first(browser):
    found = browser.run(
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


def test_right_to_left(browser):
    found = browser.run(
        page_of(HEBREW),
        """
        const whole = visible(".words text");
        click(all(".labels > g").filter((e) => e.textContent === "NP")[1]);
        ["Home", "ArrowDown", "ArrowDown", "ArrowLeft"].forEach((name) => key(name));
        return [whole, visible(".words text"), document.activeElement.textContent];
        """,
    )
    assert found == [["אדום", "תפוח", "אכל", "ילד"], ["תפוח אדום", "אכל", "ילד"], "VP"]


def test_no_text_runs_as_a_program(browser):
    html = page([Picture([[Entry(hostile_tree(text), text)]], title=text) for text in HOSTILE], title=HOSTILE[0])
    found = browser.run(
        html,
        """
        for (const item of all(".labels > g")) { enter(item); click(item); }
        HOSTILE.forEach(search);
        return [all("script").length, all("img, iframe, object, embed, link, style, base").map((e) => e.tagName),
          all("*").filter((e) => [...e.attributes].some((a) => a.name.startsWith("on"))).length];
        """.replace("HOSTILE", "all('.labels text').map((e) => e.textContent)"),
    )
    assert found == [3, ["STYLE"], 0]  # the page's own program, and the two of this test


def test_the_policy_lets_only_the_page_s_own_program_run(browser):
    html = page_of(TREE).replace(
        "</body>", "<script>document.title = 'run';</script><img src=x onerror='document.title=1'></body>"
    )
    dom = browser.dom(html)
    assert 'role="tree"' in dom
    assert re.search(r"<title>(.*?)</title>", dom)[1] == "Trees"
    small = browser.dom(page([Picture([[Entry(TREE)]])], minify=True))
    assert 'role="tree"' in small
