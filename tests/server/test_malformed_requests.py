"""Whatever is sent, the answer is a result or one line with status 4xx. INCPARSE_FUZZ=10000 sends more requests."""

import asyncio
import json
import os
import random
from urllib.parse import urlencode

import pytest

N_REQUESTS = int(os.environ.get("INCPARSE_FUZZ", "500"))
PROPERTIES = {"annotators": "tokenize,ssplit", "outputFormat": "json", "tokenize.whitespace": "true", "timeout": "9000"}
ODD = [
    "",
    "\0",
    "\ud800",
    "{",
    "'",
    "[" * 3000,
    "-" * 3000,
    "9" * 5000,
    "\\x",
    "NaN",
    "1e999",
    "\U0001f600",
    "%",
    "\\ud800",
]
WRONG = [None, 1, -0.5, True, "", [], {}, [[]], [None], [""], [["a b"]], [[1]], "\ud800", {"a": [1]}, [[""]]]
KINDS = ["text/plain; charset=", "text/plain; charset=utf-7", "a/b; charset=rot13", "text/plain;charset=utf-16"]


def mangled(chance, text):
    """Return a text with some parts lost, doubled or replaced."""
    for _ in range(chance.randint(1, 3)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.randrange(9))
        text = text[:start] + chance.choice([*ODD, text[start:end] * 2]) + text[end:]
    return text


def encoded(text):
    return text.encode("utf-8", "surrogatepass")


def post(path, must_fail, **options):
    return "POST", path, options, must_fail


def requests(chance):
    """Yield requests as method, path, options, and whether they must be refused."""
    while True:
        wrong = chance.choice(WRONG)
        body = {chance.choice(["text", "words", "texts", "svg", "functions", "formats", "tokens"]): wrong}
        more = {chance.choice(["words", "svg", "functions", "other"]): chance.choice(["no", 1, {}])}
        yield post("/v1/parse", True, content=json.dumps({"text": "It rained.", **more}))
        yield post("/v1/parse", body.keys() - {"text", "texts", "words"}, content=json.dumps(body))
        words = mangled(chance, json.dumps({"words": [["It", "rained"]]}))
        yield post("/v1/parse", False, content=encoded(words))
        yield post("/v1/parse", True, content=chance.randbytes(chance.randrange(60)) + b"\xff")
        nested = ["[" * 9000, '{"text":' * 900, "", "null", '{"text": "\\ud800"}']
        yield post("/v1/parse", True, content=chance.choice(nested))
        properties = mangled(chance, chance.choice([json.dumps, str])(PROPERTIES))
        yield post("/", False, params={"properties": encoded(properties)}, content="It rained.")
        yield post("/", True, params={"properties": json.dumps({"a": chance.choice([[], {}, None])})})
        yield post("/", False, params={"properties": chance.choice(ODD[1:])})
        name = chance.choice(["annotators", "outputFormat", "inputFormat"])
        yield post("/", False, params={name: mangled(chance, "ner").encode("utf8", "replace")})
        yield post("/", True, content=b"\xff\xfe" + chance.randbytes(9), headers={"Content-Type": "text/plain"})
        yield post("/", True, content=b"It", headers={"Content-Type": chance.choice(KINDS[1:])})
        yield post("/", False, content=encoded(mangled(chance, "It rained.")))
        yield post("/", True, content=b"word " * 401)
        pattern = mangled(chance, chance.choice(["NP < (DT=a $+ /^N/)", "VP << (NN !> NP)", "S [< NP | < VP]"]))
        yield post("/tregex", False, params={"pattern": encoded(pattern)}, content="It rained.")
        yield post("/tregex", True, params={"pattern": chance.choice(["", "(", "NP <", "NP < )", "=", "/(/"])})
        yield chance.choice(["PUT", "DELETE", "PATCH"]), chance.choice(["/", "/ping", "/v1/parse"]), {}, True
        nowhere = chance.choice(["semgrex", "v1", "tokensregex", "docs/x", "a/b"])
        yield chance.choice(["GET", "POST"]), f"/{nowhere}", {}, True


@pytest.mark.filterwarnings("ignore")
def test_malformed_requests_are_refused_in_one_line(client):
    async def answers():
        found = []
        async with client.open() as session:
            for number, request in zip(range(N_REQUESTS), requests(random.Random(5)), strict=False):
                method, path, options, must_fail = request
                values = {
                    key: value if isinstance(value, bytes) else encoded(value)
                    for key, value in options.pop("params", {}).items()
                }
                response = await session.request(method, f"{path}?{urlencode(values)}", **options)
                found.append((number, request, response.status_code, response.text, must_fail))
        return found

    for number, request, status, text, must_fail in asyncio.run(answers()):
        assert status == 200 or 400 <= status < 500, (number, request, text)
        assert not must_fail or status != 200, (number, request, text)
        if status != 200:
            assert text.strip(), (number, request)
            assert len(text.splitlines()) == 1, (number, request, text)
            assert "Traceback" not in text
            assert len(text) < 400, (number, request, text)


def test_a_full_queue_and_late_answers_are_refused(client):
    (route,) = [route for route in client.app.routes if route.path == "/v1/parse"]
    api = route.endpoint.__self__

    async def statuses():
        async with client.open() as session:
            text = {"text": "It rained in the night. " * 60}
            several = await asyncio.gather(*(session.post("/v1/parse", json=text) for _ in range(12)))
            late = await session.post("/", params={"timeout": "1"}, content=text["text"])
            while api._open:
                await asyncio.sleep(0.01)
            after = await session.post("/", content="It rained.")
        return [one.status_code for one in several], late, after

    several, late, after = asyncio.run(statuses())
    assert several.count(503) == 4
    assert several.count(200) == 8
    assert late.status_code == 504
    assert late.text.startswith("Timeout")
    assert after.status_code == 200
