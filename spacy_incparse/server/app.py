"""The web application: its operations, their limits, and their description for people and programs."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from html import escape
from math import inf
from typing import Any

import uvicorn  # noqa: F401  (the command runs it)
from anyio import fail_after
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from spacy_incparse import __version__
from spacy_incparse.documents.extensions import doc_trees
from spacy_incparse.documents.rows import trees_to_json
from spacy_incparse.errors import IncparseError
from spacy_incparse.server.corenlp import FORMATS, annotate, read_request, read_text, search
from spacy_incparse.server.parsing import Service, Wanted

_TEXT, _FLAG = {"type": "string"}, {"type": "boolean", "default": False}
_WORDS = {"type": "array", "minItems": 1, "items": {**_TEXT, "pattern": r"^\S+$"}}
_FIELDS: dict[str, Any] = {
    "text": {**_TEXT, "description": "a text; the answer has its sentences"},
    "texts": {"type": "array", "items": _TEXT, "description": "a list of texts; the answer has documents"},
    "words": {"type": "array", "items": _WORDS, "description": "a list of sentences, each a list of words"},
    "svg": {**_FLAG, "description": "true or false: whether to draw the trees"},
    "functions": {**_FLAG, "description": "true or false: whether to find functions and empty categories"},
}
SETTINGS = "SPACY_INCPARSE_SERVE"  # the environment variable with the settings of `create_app` for workers
_PARAMETERS = [
    {"name": name, "in": "query", "schema": _TEXT, "example": example}
    for name, example in (("properties", '{"annotators": "parse"}'), ("pattern", "for /tregex: NP < PP"))
]
# The name of each operation, its paths, and for those that take a body its media type and schema.
_OPERATIONS: tuple[tuple[str, str, str, Any], ...] = (
    ("parse", "/v1/parse", "application/json", {"type": "object", "properties": _FIELDS}),
    ("annotate", "/ /tregex", "text/plain", _TEXT),
    ("health", "/health /ping /live /ready", "", None),
    ("describe", "/ /docs /openapi.json", "", None),
)


class Api:
    """The operations; their docstrings are for users. A thread answers `n_waiting` requests at most, one by one."""

    def __init__(self, model: str, n_waiting: int, n_chars: int, seconds: float):
        self._service, self._thread, self._open = Service(model), ThreadPoolExecutor(1), set[Future[bytes]]()
        self._model, self._n_waiting, self._n_chars, self._seconds = model, n_waiting, n_chars, seconds

    async def parse(self, request: Request) -> Response:
        """Parse a text, several texts, or sentences given as words."""
        given = _read(await self._body(request))
        texts = [given.get("text", ""), *given.get("texts", []), *(" ".join(one) for one in given.get("words", []))]
        self._check_size(sum(map(len, texts)))
        return Response(await self._answer(partial(_parsed, self._service, given)), media_type=FORMATS["json"])

    async def annotate(self, request: Request) -> Response:
        """Annotate a text like CoreNLP's server; /tregex searches its trees with a pattern."""
        asked, is_search = (
            read_request(dict(request.query_params), self._service.language),
            request.url.path == "/tregex",
        )
        text = read_text(await self._body(request), request.headers.get("content-type", ""))
        self._check_size(len(text))
        make = partial(search if is_search else annotate, self._service, text, asked)
        media = FORMATS["json" if is_search else asked.format]
        return Response(await self._answer(make, asked.timeout), media_type=media)

    async def health(self, request: Request) -> Response:
        """Say that the server is there; /health also says its model, its limits, and how many requests are open."""
        if request.url.path != "/health":
            return PlainTextResponse(f"{request.url.path[1:].replace('ping', 'pong')}\n")
        about = {"status": "ok", "model": self._model, "version": __version__, "requests": len(self._open)}
        limits = {"requests": self._n_waiting, "characters": self._n_chars, "seconds": self._seconds}
        return JSONResponse({**about, "limits": limits})

    async def describe(self, request: Request) -> Response:
        """Describe all operations: /openapi.json for programs, /docs for people."""
        paths: dict[str, Any] = {}
        for name, places, media, schema in _OPERATIONS:
            answer = {"default": {"description": "the answer, or an error in one line"}}
            about: dict[str, Any] = {"summary": getattr(Api, name).__doc__, "responses": answer}
            about |= {"requestBody": {"content": {media: {"schema": schema}}}} if media else {}
            about |= {"parameters": _PARAMETERS} if name == "annotate" else {}
            for path in places.split():
                paths.setdefault(path, {})["post" if media else "get"] = about
        info = {"title": "spacy-incparse", "version": __version__}
        if request.url.path == "/openapi.json":
            return JSONResponse({"openapi": "3.1.0", "info": info, "paths": paths})
        head = "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>spacy-incparse</title><h1>spacy-incparse</h1>"
        return HTMLResponse(f"{head}<p>Model: {escape(self._model)}<pre>{escape(json.dumps(paths, indent=2))}</pre>")

    async def _body(self, request: Request) -> bytes:
        body = bytearray()
        try:
            with fail_after(self._seconds):
                async for chunk in request.stream():
                    body.extend(chunk)
                    self._check_size(len(body) - 5 * self._n_chars - 1000)  # JSON may have six bytes for a character
        except TimeoutError:
            raise HTTPException(408, f"Timeout: the body has not come in {self._seconds:g} seconds") from None
        return bytes(body)

    def _check_size(self, n_chars: int) -> None:
        if n_chars > self._n_chars:
            raise HTTPException(413, f"the text is too long: a request may have {self._n_chars} characters")

    async def _answer(self, make: Callable[..., bytes], seconds: float = inf) -> bytes:
        """Return what a function makes of Docs in the parser's thread."""
        if len(self._open) >= self._n_waiting:
            raise HTTPException(503, f"{len(self._open)} requests wait: try again later", {"Retry-After": "1"})
        seconds = min(seconds, self._seconds)
        work = partial(make, deadline=time.monotonic() + seconds)
        future = self._thread.submit(self._service.answer, work)
        self._open.add(future)
        future.add_done_callback(self._open.discard)
        with fail_after(seconds):
            return await asyncio.wrap_future(future)


def _fits(value: Any, schema: dict[str, Any]) -> bool:
    if schema["type"] == "array":
        is_long = isinstance(value, list) and len(value) >= schema.get("minItems", 0)
        return is_long and all(_fits(one, schema["items"]) for one in value)
    is_one = isinstance(value, bool if schema["type"] == "boolean" else str)
    return is_one and ("pattern" not in schema or value.split() == [value])


def _read(body: bytes) -> dict[str, Any]:
    """Return the fields of a request to parse. Raises IncparseError if they are not those of the description."""
    try:
        given = json.loads(body)
        json.dumps(given, ensure_ascii=False).encode()  # half a surrogate pair is no character
    except (ValueError, RecursionError) as error:
        raise IncparseError(f"the body is not JSON in UTF-8: {error}") from None
    if not isinstance(given, dict) or len(given.keys() & {"text", "texts", "words"}) != 1:
        raise IncparseError(f"the body is {given!r:.60}: it must be an object with one of text, texts and words")
    for name, value in given.items():
        if name not in _FIELDS or not _fits(value, _FIELDS[name]):
            allowed = _FIELDS[name]["description"] if name in _FIELDS else f"one of the fields {', '.join(_FIELDS)}"
            raise IncparseError(f"{name:.60} is {value!r:.60}: it must be {allowed}")
    return given


def _parsed(service: Service, given: dict[str, Any], deadline: float) -> bytes:
    texts = [given["text"]] if "text" in given else given.get("texts") or given.get("words", [])
    functions, documents = given.get("functions", False), list[Any]()
    for doc in service.docs(texts, Wanted(functions=functions, is_sentence="words" in given), deadline):
        documents.append({"sentences": trees_to_json(doc)})
        for row, tree in zip(documents[-1]["sentences"], doc_trees(doc), strict=True):
            row["brackets"] = str(tree.with_empties())
            row |= {"svg": tree.to_svg(traces=functions)} if given.get("svg") else {}
    one = {"sentences": [row for some in documents for row in some["sentences"]]}
    return json.dumps({"documents": documents} if "texts" in given else one, ensure_ascii=False).encode()


def _refuse(status: int, request: Request, error: Any) -> Response:
    """Return an error as one line."""
    line = (str(getattr(error, "detail", error)).splitlines() or ["Timeout: send less text at once"])[0]
    content = f"{line:.300}\n".encode(errors="backslashreplace")
    return PlainTextResponse(content, status or error.status_code, getattr(error, "headers", None))


def create_app(*settings: Any) -> Starlette:
    """Return the application: model, requests that may wait, characters and seconds of one. Raises ModelError."""
    api, routes = Api(*(settings or json.loads(os.environ[SETTINGS]))), list[Route]()
    for name, places, media, _ in _OPERATIONS:
        routes += [Route(path, getattr(api, name), methods=["POST" if media else "GET"]) for path in places.split()]
    statuses: dict[Any, int] = {TimeoutError: 504, IncparseError: 400, ClientDisconnect: 400, HTTPException: 0}
    return Starlette(routes=routes, exception_handlers={one: partial(_refuse, statuses[one]) for one in statuses})
