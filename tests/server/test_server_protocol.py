"""The operations: what they answer, and how they refuse."""

import json

import pytest

from spacy_incparse import Tree

TEXT = "The old boat sank. Anna, who had built it, cried (a little)."


def annotated(client, text, properties, **more):
    response = client.post("/", params={"properties": json.dumps(properties)}, content=text, **more)
    assert response.status_code == 200, response.text
    return response


def test_trees_in_all_forms(client):
    found = client.post("/v1/parse", json={"text": TEXT, "svg": True}).json()["sentences"]
    assert [TEXT[one["start"] : one["end"]] for one in found] == ["The old boat sank.", TEXT[19:]]
    for one in found:
        assert Tree.from_string(one["brackets"]).label == one["tree"]["label"] == "TOP"
        assert one["svg"].startswith("<svg")
    many = client.post("/v1/parse", json={"texts": [TEXT, "", "It rained."]}).json()["documents"]
    assert [one["start"] for one in many[0]["sentences"]] == [one["start"] for one in found]
    assert [len(one["sentences"]) for one in many] == [2, 0, 1]
    (given,) = client.post("/v1/parse", json={"words": [["It", "rained.", "Today"]]}).json()["sentences"]
    assert Tree.from_string(given["brackets"]).words == ("It", "rained.", "Today")
    (known,) = client.post("/v1/parse", json={"text": "She seems to sleep.", "functions": True}).json()["sentences"]
    assert "-SBJ" in known["brackets"]
    assert client.post("/v1/parse", json={"texts": []}).json() == {"documents": []}


def test_json_of_corenlp(client):
    found = annotated(client, TEXT, {"annotators": "parse,depparse,lemma"}, headers={"Content-Type": "text/plain"})
    sentences = found.json()["sentences"]
    assert [one["index"] for one in sentences] == [0, 1]
    tokens = [token for one in sentences for token in one["tokens"]]
    assert tokens[0]["before"] + "".join(token["originalText"] + token["after"] for token in tokens) == TEXT
    for token in tokens:
        assert TEXT[token["characterOffsetBegin"] : token["characterOffsetEnd"]] == token["originalText"]
    for one in sentences:
        tree = Tree.from_string(one["parse"])
        assert tree.label == "ROOT"
        assert list(tree.words) == [token["word"] for token in one["tokens"]]
        assert list(tree.tags) == [token["pos"] for token in one["tokens"]]
        assert "\n" in one["parse"] or len(one["parse"]) <= 60
        basic = one["basicDependencies"]
        assert sorted(edge["dependent"] for edge in basic) == [token["index"] for token in one["tokens"]]
        assert [edge["dep"] for edge in basic if not edge["governor"]] == ["ROOT"]
        words = ["ROOT", *tree.words]
        for edge in one["enhancedPlusPlusDependencies"]:
            glosses = edge["governorGloss"], edge["dependentGloss"]
            assert glosses == (words[edge["governor"]], words[edge["dependent"]])
        assert all(edge in one["enhancedDependencies"] for edge in basic)
    only = annotated(client, TEXT, {"annotators": "tokenize,ssplit"}).json()["sentences"]
    assert [[token["word"] for token in one["tokens"]] for one in only] == [
        [token["word"] for token in one["tokens"]] for one in sentences
    ]
    assert not {"parse", "basicDependencies"} & only[0].keys()
    assert "pos" not in only[0]["tokens"][0]


def test_characters_beyond_16_bits_count_as_in_java(client):
    text = "We met \U0001f600 in \U0001d49c. It rained."
    found = annotated(client, text.encode(), {"tokenize.codepoint": "true"}, headers={"Content-Type": "text/plain"})
    wide = text.encode("utf-16-le")
    for token in [token for one in found.json()["sentences"] for token in one["tokens"]]:
        java = wide[2 * token["characterOffsetBegin"] : 2 * token["characterOffsetEnd"]].decode("utf-16-le")
        assert java == text[token["codepointOffsetBegin"] : token["codepointOffsetEnd"]] == token["originalText"]


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ({"ssplit.eolonly": True}, ["Up . Down .", "No , no !"]),
        ({"ssplit.eolonly": "true", "tokenize.whitespace": "true"}, ["Up. Down.", "No, no !"]),
        ({"ssplit.isOneSentence": "true"}, ["Up . Down . No , no !"]),
        ({"ssplit.isOneSentence": "true", "tokenize.whitespace": "true"}, ["Up. Down. No, no !"]),
    ],
)
@pytest.mark.parametrize("annotators", ["tokenize,ssplit", "parse"])
def test_sentences_and_words_as_wanted(client, properties, words, annotators):
    text = "Up. Down.\n \nNo, no !\n"
    found = annotated(client, text, {**properties, "annotators": annotators}).json()["sentences"]
    assert [" ".join(token["word"] for token in one["tokens"]) for one in found] == words
    for token in [token for one in found for token in one["tokens"]]:
        assert text[token["characterOffsetBegin"] : token["characterOffsetEnd"]] == token["originalText"]


def test_a_line_or_a_blank_line_may_end_a_sentence(client):
    text = "The rain\nhad stopped\n\nand the boat\nhad come"
    for breaks, n_sentences in (("always", 4), ("two", 2)):
        found = annotated(client, text, {"ssplit.newlineIsSentenceBreak": breaks}).json()["sentences"]
        assert len(found) == n_sentences


def test_forms_are_unquoted_and_texts_are_not(client):
    for kind, body, word in (
        ("application/x-www-form-urlencoded", "100%25+sure", "sure"),
        ("text/plain; charset=ISO-8859-1", "caf\xe9".encode("latin-1"), "caf\xe9"),
        ("text/plain", "100%25+sure", "100%25+sure"),
        ("application/x-www-form-urlencoded", "5% off", "off"),
    ):
        properties = {"annotators": "tokenize", "tokenize.whitespace": "true"}
        (found,) = annotated(client, body, properties, headers={"Content-Type": kind}).json()["sentences"]
        assert found["tokens"][-1]["word"] == word


def test_other_formats(client):
    lines = annotated(client, TEXT, {"annotators": "parse,depparse", "outputFormat": "text"}).text.splitlines()
    assert lines[:2] == ["Sentence #1 (5 tokens):", "The old boat sank."]
    assert "det(boat-3, The-1)" in lines
    conllu = annotated(client, TEXT, {"outputFormat": "conllu"}).text
    rows = [line.split("\t") for line in conllu.splitlines() if line and line[0] != "#"]
    assert [row[1] for row in rows][:5] == ["The", "old", "boat", "sank", "."]
    assert {len(row) for row in rows} == {10}


def test_properties_in_both_notations(client):
    """Stanza sends Python's notation, and parameters of the URL are properties, too."""
    for given in ({"properties": "{'annotators': 'tokenize', 'outputFormat': 'text'}"}, {"outputFormat": "text"}):
        assert client.post("/", params=given, content="It rained.").text.startswith("Sentence #1 (3 tokens)")


def test_matches_of_a_pattern(client):
    text = "The dog saw \U0001f600 the cat."
    params = {"pattern": "NP=one < (DT=two $+ NN)", "properties": "{'tokenize.codepoint': 'true'}"}
    (found,) = client.post("/tregex", params=params, content=text).json()["sentences"]
    assert next(one["spanString"] for one in found.values()) == "The dog"
    assert found["0"]["match"] == "(NP (DT The) (NN dog))\n"
    assert [next(iter(one)) for one in found["0"]["namedNodes"]] == ["one", "two"]
    assert found["0"]["namedNodes"][1]["two"]["spanString"] == "The"
    for one in found.values():
        assert text[one["codepointOffsetBegin"] : one["codepointOffsetEnd"]] == one["spanString"]
    (word,) = client.post("/tregex", params={"pattern": "dog"}, content=text).json()["sentences"]
    assert (word["0"]["match"], len(word)) == ("dog\n", 1)
    (root,) = client.post("/tregex", params={"pattern": "ROOT"}, content=text).json()["sentences"]
    assert root["0"]["match"].startswith("(ROOT")
    assert client.post("/tregex", params={"pattern": "FRAG << QP"}, content=text).json() == {"sentences": [{}]}


def test_the_description_has_all_operations(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert {(route.path, method) for route in client.app.routes for method in route.methods - {"HEAD"}} == {
        (path, method.upper()) for path, methods in paths.items() for method in methods
    }
    page = client.get("/docs").text
    assert all(path in page for path in paths)
    assert "http:" not in page
    assert "https:" not in page
    for path in ("/ping", "/live", "/ready", "/"):
        assert client.get(path).status_code == 200
    assert client.get("/health").json()["model"] == "en"


@pytest.mark.parametrize(
    ("path", "params", "named"),
    [
        ("/", {"annotators": "tokenize,ner"}, "'ner'"),
        ("/", {"outputFormat": "xml"}, "'xml'"),
        ("/", {"inputFormat": "serialized"}, "'serialized'"),
        ("/", {"pipelineLanguage": "french"}, "'french'"),
        ("/", {"properties": "{'annotators': ['parse']}"}, "['parse']"),
        ("/", {"properties": "{'annotators': parse}"}, "{'annotators': parse}"),
        ("/tregex", {"pattern": "NP <"}, "column"),
        ("/tregex", {}, "pattern"),
    ],
)
def test_what_cannot_be_done_is_named(client, path, params, named):
    response = client.post(path, params=params, content="It rained.")
    assert response.status_code == 400
    assert named in response.text
    assert response.text.count("\n") == 1


def test_long_texts_are_refused(client):
    for path, body in (("/", "word " * 500), ("/v1/parse", json.dumps({"text": "word " * 500})), ("/", "x" * 50_000)):
        response = client.post(path, content=body)
        assert response.status_code == 413
        assert "2000" in response.text
