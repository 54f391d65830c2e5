"""A page in headless Chromium: actions of a script, and what it found."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
INSTALL = "INCPARSE_APT"  # where this environment variable is set, the tests install what they need
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n')

# What the scripts of tests use. `visible`: what is seen of a tree, from left to right.
_PRELUDE = """
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


def find_chromium() -> str:
    """Return the program; skip the test where there is none and none may be installed."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None and os.environ.get(INSTALL) and shutil.which("apt-get"):
        subprocess.run(["apt-get", "install", "-y", "-q", "chromium"], check=False, capture_output=True)
        found = shutil.which("chromium")
    if found is None:
        pytest.skip(f"needs Chromium: apt-get install chromium, or set {INSTALL}=1 and the tests do it")
    return found


class Browser:
    """Opens pages from files, as `file://` addresses, each in a process of its own."""

    def __init__(self, folder: Path):
        self.program, self.folder = find_chromium(), folder

    def dom(self, html: str, *arguments: str) -> str:
        """Return the document as it is after the page's program has run."""
        path = self.folder / "page.html"
        path.write_text(html, encoding="utf8")
        flags = ["--headless", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--window-size=1000,800"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium refuses to run as root with one
        command = [self.program, *flags, f"--user-data-dir={self.folder / 'profile'}", *arguments, "--dump-dom"]
        result = subprocess.run([*command, path.as_uri()], capture_output=True, text=True, timeout=60, check=True)
        return result.stdout

    def run(self, html: str, script: str, *arguments: str):
        """Return what a function body gives that runs in the page after its own program; errors of either fail.

        The page's policy forbids programs of others, and is taken out for that.
        """
        prelude = "const errors = []; addEventListener('error', (event) => errors.push(event.message));"
        html = _POLICY.sub(f"<script>{prelude}</script>", html, count=1)
        body = f"(() => {{ {script} }})()"
        show = (
            f"{_PRELUDE}\nlet value = null; try {{ value = {body}; }} catch (error) {{ errors.push(error.stack); }}"
            "const result = document.createElement('pre'); result.id = 'result';"
            "result.textContent = encodeURIComponent(JSON.stringify({ value, errors })); document.body.append(result);"
        )
        dom = self.dom(html.replace("</body>", f"<script>{{ {show} }}</script></body>"), *arguments)
        found = re.search(r'<pre id="result">([^<]*)</pre>', dom)
        assert found, dom[-2_000:]
        from urllib.parse import unquote

        result = json.loads(unquote(found[1]))
        assert result["errors"] == []
        return result["value"]
