"""The workbench in a browser, by keyboard and by mouse. Run by `pytest -m browser` alone; needs Playwright, Chromium.

`python -m tests.workbench.test_workbench_browser` takes the picture of docs/workbench.md.
"""

import shutil
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from spacy_incparse.workbench.app import application
from spacy_incparse.workbench.bench import Bench
from spacy_incparse.workbench.journal import Journal, journal_path
from spacy_incparse.workbench.models import Model
from spacy_incparse.workbench.sources import Source
from tests.workbench.random_actions import opened

pytestmark = pytest.mark.browser
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PICTURE = Path(__file__).parents[2] / "docs" / "images" / "workbench.png"


@contextmanager
def served(bench):
    """Serve a bench, and yield the address."""
    import uvicorn

    from spacy_incparse.cli.edit import _listener

    listener = _listener(0)
    port = listener.getsockname()[1]
    config = uvicorn.Config(application(bench, "secret", port), log_level="warning", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}/secret/"
    finally:
        server.should_exit = True
        thread.join()
        bench.journal.close()


@contextmanager
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield chromium
        finally:
            chromium.close()


class Window:
    """A page, what it has printed, and what a person does in it."""

    def __init__(self, chromium, address, **settings):
        self.page = chromium.new_page(**settings)
        self.errors = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._note)
        self.page.goto(address)
        self.wait()

    def _note(self, message):
        if message.type == "error" and "(Unprocessable Entity)" not in message.text:  # an action that is refused
            self.errors.append(message.text)

    def wait(self, milliseconds=150):
        self.page.wait_for_selector(".node")
        self.page.wait_for_timeout(milliseconds)

    def keys(self, *names):
        for name in names:
            self.page.keyboard.press(name)
        self.wait()

    def answer(self, key, text):
        """Press a key, and answer the question that it asks."""
        self.page.keyboard.press(key)
        self.page.wait_for_selector("#ask[open]")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")
        self.wait()

    def choose(self, start, end, label=None):
        """Click the lowest phrase, or the word, over some words."""
        self.place(start, end, label).click(force=True)
        self.wait(50)

    def place(self, start, end, label=None):
        number = self.page.evaluate(
            """([start, end, label]) => {
              const nodes = [...document.querySelectorAll('#picture .node')];
              const texts = [...document.querySelectorAll('#picture .words text')];
              const words = texts.map((word) => Number(word.dataset.node));
              const levels = nodes.map((node) => Number(node.getAttribute('aria-level')));
              let found = -1;
              nodes.forEach((node, i) => {
                let behind = i + 1;
                while (behind < nodes.length && levels[behind] > levels[i]) behind++;
                const inside = words.flatMap((leaf, k) => (i <= leaf && leaf < behind ? [k] : []));
                const name = node.querySelector('text').textContent;
                if (inside[0] === start && inside.at(-1) === end - 1 && (label === null || label === name)) found = i;
              });
              return found;
            }""",
            [start, end, label],
        )
        assert number >= 0, (start, end, label)
        return self.page.locator(f"#picture .node[data-node='{number}']")

    def text(self, selector):
        return self.page.text_content(selector)


@pytest.fixture(scope="module")
def chromium():
    with browser() as found:
        yield found


@pytest.fixture
def bench(tmp_path):
    return opened(tmp_path, "text")


def test_a_tree_from_nothing_by_keyboard(chromium, bench):
    with served(bench) as address:
        window = Window(chromium, address)
        window.keys("n")  # nobody mends it
        window.keys("Home", "ArrowDown")
        window.answer("l", "PRON")
        window.keys("ArrowRight")
        window.answer("Enter", "VP")
        window.keys("ArrowDown")
        window.answer("l", "V")
        window.keys("ArrowRight")
        window.answer("l", "PRON")
        window.answer("w", "NP")
        window.keys("ArrowUp", "ArrowUp", "ArrowLeft")
        window.keys("Shift+ArrowRight")
        window.answer("w", "S")
        assert str(bench.tree(1)) == "(TOP (S (PRON nobody) (VP (V mends) (NP (PRON it)))))"
        window.keys("a")
        assert bench.state(1) == "corrected"
        assert "Sentence 3" in window.text("#number")
        assert window.errors == []


def test_a_tree_from_nothing_by_mouse(chromium, bench):
    with served(bench) as address:
        window = Window(chromium, address)
        window.page.locator("#rows .row").nth(1).click()
        window.wait()
        window.choose(0, 1)
        window.place(0, 1).dblclick(force=True)
        window.page.wait_for_selector("#ask[open]")
        window.page.fill("#answer", "PRON")
        window.page.get_by_role("button", name="OK").click()
        window.wait()
        window.choose(1, 3)
        window.page.get_by_role("button", name="Dissolve").click()
        window.wait()
        window.choose(1, 2)
        window.place(2, 3).click(force=True, modifiers=["Shift"])
        window.page.get_by_role("button", name="Wrap").click()
        window.page.fill("#answer", "VP")
        window.page.get_by_role("button", name="OK").click()
        window.wait()
        assert str(bench.tree(1)) == "(TOP (PRON nobody) (VP (N mends) (N it)))"
        window.place(0, 1).drag_to(window.place(1, 3), force=True)
        window.wait()
        assert str(bench.tree(1)) == "(TOP (VP (PRON nobody) (N mends) (N it)))"
        window.page.get_by_role("button", name="Undo").click()
        window.wait()
        assert str(bench.tree(1)) == "(TOP (PRON nobody) (VP (N mends) (N it)))"
        window.place(2, 3).drag_to(window.place(0, 1), force=True)
        window.wait()
        assert "word" in window.text("#message")
        window.page.get_by_role("button", name="Accept").click()
        window.wait()
        assert bench.state(1) == "corrected"
        assert window.errors == []


def test_a_parse_is_corrected_and_fifty_actions_undone(chromium, trained, tmp_path):
    trained.to_disk(tmp_path / "model")
    source = Source(tmp_path / "own.txt", ["The old man saw a dog in the park .".split()])
    bench = Bench(source, Model(str(tmp_path / "model")), Journal(journal_path(source.target)))
    with served(bench) as address:
        window = Window(chromium, address)
        first = bench.tree(0)
        window.choose(3, 4)
        window.answer("l", "VBX")
        assert bench.tree(0).tags[3] == "VBX"
        for k in range(49):
            window.choose(0, 1)
            window.answer("l", f"D{k}")
        assert bench.tree(0).tags[0] == "D48"
        window.page.reload()
        window.wait()
        for _ in range(50):
            window.keys("z")
        assert bench.tree(0) == first
        window.keys("z")
        assert "nothing to undo" in window.text("#message")
        window.keys("b")
        window.page.wait_for_selector("#others button")
        window.keys("1")
        assert bench.tree(0) != first
        assert window.errors == []


def test_two_tabs_do_not_overwrite_each_other(chromium, bench):
    with served(bench) as address:
        one, two = Window(chromium, address), Window(chromium, address)
        one.choose(0, 1)
        one.answer("l", "DET")
        before = bench.tree(0)
        two.choose(0, 1)
        two.answer("l", "ART")
        assert bench.tree(0) == before
        assert "another window" in two.text("#message")
        two.choose(0, 1, "DET")
        two.answer("l", "ART")
        assert bench.tree(0).tags[0] == "ART"


def test_right_to_left_and_names_for_screen_readers(chromium, bench):
    with served(bench) as address:
        window = Window(chromium, f"{address}#4")
        first, last = (window.page.locator("#picture .words text").nth(k).bounding_box() for k in (0, 2))
        assert first["x"] > last["x"]
        assert "שלום" in window.place(0, 1).get_attribute("aria-label")
        window.keys("Home", "ArrowDown", "ArrowLeft")  # to the left is on
        assert window.page.evaluate("document.activeElement.dataset.node") == "2"
        window = Window(chromium, f"{address}#5")
        assert window.page.get_by_role("tree", name="Tree", exact=True).count() == 1
        name = window.page.get_by_role("treeitem", selected=True).get_attribute("aria-label")
        assert name.endswith("喜欢 红 茶") or name.startswith("N: 他")
        for button in ("Relabel", "Wrap", "Move", "Undo", "Accept"):
            assert window.page.get_by_role("button", name=button).count() == 1
        assert window.errors == []


TEXT = [
    "The gardener who plants the roses waters them in the evening .",
    "We saw the children with the kites on the hill behind the school .",
    "Nobody expected that the old clock would strike again .",
    "She baked a cake for the neighbours because it was raining .",
    "After the concert the musicians walked home through the snow .",
    "The letter that he found under the door came from his aunt .",
]


def take_picture():
    """Write the picture of docs/workbench.md."""
    with tempfile.TemporaryDirectory() as name, browser() as chromium:
        source = Source(Path(name) / "stories.txt", [line.split() for line in TEXT])
        bench = Bench(source, Model("en"), Journal(journal_path(source.target)))
        bench.act(0, bench.version(0), {"do": "accept"})
        with served(bench) as address:
            size = {"width": 1180, "height": 720}
            window = Window(chromium, f"{address}#2", viewport=size)
            window.choose(7, 8)
            window.keys("ArrowUp")
            window.keys("c")
            window.wait(1500)
            window.keys("b")
            window.wait(2500)
            window.page.screenshot(path=PICTURE)
    print(PICTURE, PICTURE.stat().st_size)


if __name__ == "__main__":
    sys.exit(take_picture())
