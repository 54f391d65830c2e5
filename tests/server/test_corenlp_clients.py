"""Clients that were written for CoreNLP's server speak to a server of ours, in a process of its own."""

import subprocess
import sys
import time
import urllib.request

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
TEXT = "The old boat sank in the harbour. Anna saw it (she was there)."


@pytest.fixture(scope="module")
def address():
    command = [sys.executable, "-m", "spacy_incparse", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            found = process.stdout.readline().split(" at ")[1].split()[0]
            for _ in range(200):
                try:
                    urllib.request.urlopen(f"{found}/ready", timeout=10).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield found
        finally:
            process.terminate()


def test_nltk_parses_and_tokenizes(address):
    corenlp = pytest.importorskip("nltk.parse.corenlp")
    parser = corenlp.CoreNLPParser(url=address)
    (tree,) = parser.raw_parse("The old boat sank. It was (very) old.")
    assert tree.label() == "ROOT"
    assert tree.leaves()[-5:] == ["-LRB-", "very", "-RRB-", "old", "."]
    (tree,) = parser.parse("We sail at 5 p.m .".split())
    assert tree.leaves() == ["We", "sail", "at", "5", "p.m", "."]
    assert [tree.leaves()[-1] for tree in parser.parse_text(TEXT)] == [".", "."]
    assert [next(trees).label() for trees in parser.raw_parse_sents(["It rained.", "We left."])] == ["ROOT", "ROOT"]
    assert list(parser.tokenize("It (really) rained.")) == ["It", "(", "really", ")", "rained", "."]
    tagger = corenlp.CoreNLPParser(url=address, tagtype="pos")
    assert tagger.tag("What was it ?".split())[0] == ("What", "WP")


def test_nltk_has_dependencies(address):
    corenlp = pytest.importorskip("nltk.parse.corenlp")
    (graph,) = corenlp.CoreNLPDependencyParser(url=address).raw_parse("The old boat sank.")
    assert (("sank", "VBD"), "nsubj", ("boat", "NN")) in list(graph.triples())


def test_stanza_annotates_and_searches(address):
    server = pytest.importorskip("stanza.server")
    client = server.CoreNLPClient(
        start_server=server.StartServer.DONT_START, endpoint=address, annotators="tokenize,ssplit,pos,parse,depparse"
    )
    document = client.annotate(TEXT)
    assert document.text == TEXT
    first, second = document.sentence
    assert [token.word for token in first.token] == "The old boat sank in the harbour .".split()
    assert [token.tag if hasattr(token, "tag") else token.pos for token in first.token][:3] == ["DT", "JJ", "NN"]
    for sentence in (first, second):
        for token in sentence.token:
            assert TEXT[token.beginChar : token.endChar] == token.originalText
    assert "".join(token.originalText + token.after for one in document.sentence for token in one.token) == TEXT
    assert (second.tokenOffsetBegin, second.sentenceIndex) == (len(first.token), 1)
    assert second.characterOffsetBegin == TEXT.index("Anna")
    root = first.parseTree
    assert (root.value, root.child[0].value, root.child[0].child[0].child[0].child[0].value) == ("ROOT", "S", "The")
    assert (root.child[0].yieldBeginIndex, root.child[0].yieldEndIndex) == (0, 8)
    edges = {(edge.source, edge.target, edge.dep) for edge in first.basicDependencies.edge}
    assert {(3, 1, "det"), (4, 3, "nsubj")} <= edges
    assert list(first.basicDependencies.root) == [4]
    assert len(first.enhancedPlusPlusDependencies.node) == 8
    assert client.annotate(TEXT, annotators="tokenize", output_format="json")["sentences"][1]["index"] == 1
    found = client.tregex(TEXT, "NP < DT=article")["sentences"]
    assert found[0]["0"]["spanString"] == "The old boat"
    assert found[0]["0"]["namedNodes"][0]["article"]["match"] == "(DT The)\n"
    with pytest.raises(server.client.AnnotationException, match="'coref'"):
        client.annotate(TEXT, annotators="coref")
