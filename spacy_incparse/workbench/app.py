"""The server of the page: JSON over HTTP on this machine alone, for whoever knows the token in the address."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from spacy_incparse.errors import IncparseError, optional_module
from spacy_incparse.repair.relabelling import numbered_phrases
from spacy_incparse.trees.empties import co_indexed
from spacy_incparse.trees.labels import TRACE_TAG
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import is_right_to_left
from spacy_incparse.viz.options import Look
from spacy_incparse.workbench.bench import Bench, ConflictError
from spacy_incparse.workbench.learning import Learning, actions_per_word
from spacy_incparse.workbench.proposals import load_model

MOST_ROWS, MOST_BYTES, SHOWN = 200, 4_000_000, 12
_FILES = {name: f"workbench/page/{name}" for name in ("index.html", "edit.js", "panes.js", "edit.css")}
_FILES |= {"": _FILES["index.html"], "layout.js": "viz/layout.js"}
_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class _Guard:
    """Refuses every request without the token, for another host, or from another page, before anything else runs."""

    def __init__(self, app: Callable[..., Awaitable[None]], token: str, port: int):
        self._app, self._token = app, token.encode()
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        token, _, rest = scope["path"][1:].partition("/")
        is_ours = secrets.compare_digest(token.encode("utf-8", "replace"), self._token)
        is_ours = is_ours and headers.get("host") in self._hosts and scope["type"] == "http"
        is_ours = is_ours and headers.get("origin") in (None, *(f"http://{host}" for host in self._hosts))
        if is_ours and headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
            await self._app({**scope, "path": f"/{rest}", "raw_path": None}, receive, send)
        elif scope["type"] == "http":
            await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
            await send({"type": "http.response.body", "body": b"refused: open the address that the command printed\n"})


def _tree(tree: Tree) -> dict[str, Any]:
    arrays = tree.own_arrays
    fills = [Look().fill(0, label) for label in arrays.labels]
    return {"labels": arrays.labels, "sizes": arrays.sizes, "words": arrays.words, "fills": fills}


class _Service:
    """The answers to the page's requests, by path; each gets the request's number of a sentence, query and body."""

    def __init__(self, bench: Bench, learning: Learning | None, model: str):
        self._bench, self._learning, self._model, self._is_weighing, self._error = bench, learning, model, False, ""
        self._key, self._numbers = ("",), list[int]()  # of the last list, which may be long
        sentence = "sentence/{i:int}"
        self.answers: dict[tuple[str, str], Callable[[int, Any, Any], Any]] = {
            ("GET", "info"): self._info,
            ("GET", "list"): self._list,
            ("GET", "progress"): lambda i, query, body: self._progress(),
            ("POST", "learning"): self._switch,
            ("POST", "save"): lambda i, query, body: {"saved": bench.save()},
            ("GET", sentence): lambda i, query, body: self._sentence(i),
            ("POST", sentence): self._act,
            ("GET", f"{sentence}/confidences"): lambda i, query, body: {
                "version": bench.version(i), "nodes": bench.confidences(i),
            },
            ("GET", f"{sentence}/alternatives"): self._alternatives,
        }  # fmt: skip

    async def work(self) -> None:
        """Load models, count, weigh and learn while nobody waits."""
        is_counting = True
        while True:
            try:
                if self._learning and self._learning.poll():
                    self._model = str(self._learning.model)
                if name := self._model:
                    self._model = ""
                    self._bench.use(await asyncio.get_running_loop().run_in_executor(None, load_model, name))
                is_counting = is_counting and self._bench.count(20)
                self._is_weighing = self._is_weighing and self._bench.weigh(1)
                if self._learning:
                    self._learning.start_if_due(map(self._bench.tree, self._bench.accepted), len(self._bench.accepted))
            except IncparseError as error:  # of one sentence, or a full disk: the page goes on
                is_counting = self._is_weighing = False
                self._error = str(error)
            await asyncio.sleep(0.005 if is_counting or self._is_weighing else 0.5)

    def _info(self, i: int, query: Any, body: Any) -> Any:
        bench, source = self._bench, self._bench.source
        return {
            "file": source.path.name, "target": source.target.name, "n": len(source), **bench.names(),
            "canRetokenize": source.can_retokenize, "hasTrees": source.has_trees, "hasSecond": bench.second is not None,
        }  # fmt: skip

    def _list(self, i: int, query: Any, body: Any) -> Any:
        key = tuple(query.get(name, default) for name, default in (("order", "text"), ("pattern", ""), ("state", "")))
        first, number = int(query.get("first", 0)), min(int(query.get("number", 50)), MOST_ROWS)
        self._is_weighing = self._is_weighing or key[0] == "confidence"
        if key != self._key or "anew" in query:
            self._key, self._numbers = key, self._bench.listed(*key)
        found = self._numbers
        at = int(query.get("at", -1))
        rows = list(map(self._row, found[max(first, 0) :][:number]))
        return {"n": len(found), "first": first, "place": found.index(at) if at in found else None, "rows": rows}

    def _row(self, i: int) -> dict[str, Any]:
        words = self._bench.source.words(i)
        return {
            "i": i, "state": self._bench.state(i), "text": " ".join(words[:SHOWN]) + " …" * (len(words) > SHOWN),
            "words": len(words), "rtl": is_right_to_left(words), "confidence": self._bench.weakest.get(i),
            "comment": self._bench.comment(i),
        }  # fmt: skip

    def _sentence(self, i: int) -> dict[str, Any]:
        now = self._bench.snapshot(i)
        tree, required = now.tree, set(now.required)
        has_traces = TRACE_TAG in tree.tags
        found: dict[str, Any] = {
            "i": i, "version": self._bench.version(i), "state": now.state, "accepted": now.is_accepted,
            "tree": _tree(tree), "comment": now.comment, "hints": self._bench.hints(i),
            "rtl": is_right_to_left(tree.words),
            "confirmed": [node for node, phrase in numbered_phrases(tree) if phrase in required],
            "confirmedTags": [] if has_traces else [tree.arrays.leaves[k] for k in now.tags],
            "hasTraces": has_traces, "links": co_indexed(tree.arrays),
        }  # fmt: skip
        if beside := self._bench.beside(i):
            other, found_marks = beside
            marks = (
                {node: mark.sign.strip() for node, mark in side.items()}
                for side in (found_marks.gold, found_marks.parsed)
            )
            found["second"] = dict(zip(("theirs", "ours"), marks, strict=True))
            found["second"] |= {"tree": _tree(other), "f": found_marks.agreement.f}
        return found

    def _alternatives(self, i: int, query: Any, body: Any) -> Any:
        now = {phrase for _, phrase in numbered_phrases(self._bench.tree(i))}
        found = self._bench.alternatives(i, int(query.get("node", 0)), query.get("how", "behind"))
        new = [[node for node, phrase in numbered_phrases(tree) if phrase not in now] for tree in found]
        trees = [{**_tree(tree), "brackets": str(tree), "new": nodes} for tree, nodes in zip(found, new, strict=True)]
        return {"version": self._bench.version(i), "trees": trees}

    def _act(self, i: int, query: Any, body: Any) -> Any:
        if not isinstance(body, dict) or not isinstance(body.get("action"), dict):
            raise IncparseError("expected an object with the version of the sentence and an action")
        self._bench.act(i, str(body.get("version")), body["action"])
        return self._sentence(i)

    def _progress(self) -> dict[str, Any]:
        learning, bench = self._learning, self._bench
        found = {
            "accepted": len(bench.accepted),
            "actions": actions_per_word(bench.effort),
            "parser": bench.proposer.name,
            "error": self._error,
        }
        if learning:
            found |= {"runs": learning.runs, "running": learning.is_running, "on": learning.is_on}
            found["error"] = learning.error or self._error
        return found | (dict(zip(("f", "compared"), bench.agreement(), strict=True)) if bench.second else {})

    def _switch(self, i: int, query: Any, body: Any) -> Any:
        if self._learning:
            self._learning.is_on = isinstance(body, dict) and bool(body.get("on"))
            if not self._learning.is_on:
                self._learning.stop()
        return self._progress()


def application(bench: Bench, token: str, port: int, learning: Learning | None = None, model: str = "") -> Any:
    """Return the ASGI application. Raises IncparseError, saying what to install, without Starlette.

    model: a pipeline that is loaded while people look at the page.
    """
    why = "the workbench needs Starlette and uvicorn"
    starlette = optional_module("starlette.applications", "edit", why)
    routing, responses = (optional_module(f"starlette.{name}", "edit", why) for name in ("routing", "responses"))
    service = _Service(bench, learning, model)

    def endpoint(answer: Callable[[int, Any, Any], Any]) -> Callable[[Any], Awaitable[Any]]:
        async def answered(request: Any) -> Any:
            status = 200
            try:
                body = await _body(request) if request.method == "POST" else None
                found = answer(int(request.path_params.get("i", 0)), request.query_params, body)
            except (IncparseError, ValueError, OverflowError) as error:
                status, found = 409 if isinstance(error, ConflictError) else 422, {"error": str(error)}
            data = json.dumps(found, ensure_ascii=True, separators=(",", ":")).encode()
            return responses.Response(data, status, {**_HEADERS, "Content-Type": "application/json"})

        return answered

    async def page(request: Any) -> Any:
        name = _FILES.get(request.path_params.get("name", ""))
        if name is None:
            return responses.PlainTextResponse("not found\n", 404)
        headers = {**_HEADERS, "Content-Type": f"{_TYPES[name.rpartition('.')[2]]}; charset=utf-8"}
        return responses.Response(files("spacy_incparse").joinpath(name).read_bytes(), headers=headers)

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        task = asyncio.create_task(service.work())
        yield
        task.cancel()
        if learning:
            learning.stop()

    routes = [
        routing.Route(f"/api/{path}", endpoint(answer), methods=[method])
        for (method, path), answer in service.answers.items()
    ]
    routes += [routing.Route("/", page, methods=["GET"]), routing.Route("/{name}", page, methods=["GET"])]
    return _Guard(starlette.Starlette(routes=routes, lifespan=lifespan), token, port)


async def _body(request: Any) -> Any:
    """Return the JSON of a request. Raises IncparseError for anything else, and for too much of it."""
    data = b""
    async for part in request.stream():
        data += part
        if len(data) > MOST_BYTES:
            raise IncparseError(f"a request has more than {MOST_BYTES:,} bytes")
    return json.loads(data or b"null")
