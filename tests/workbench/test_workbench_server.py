"""The JSON that the page gets, and who may ask for it."""

import time
from collections import Counter

import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.repair.relabelling import numbered_phrases
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workbench.app import application
from spacy_incparse.workbench.bench import Bench
from spacy_incparse.workbench.journal import Journal, journal_path
from spacy_incparse.workbench.learning import Learning, actions_per_word
from spacy_incparse.workbench.models import Model
from spacy_incparse.workbench.proposals import Proposer, Wanted
from spacy_incparse.workbench.sources import Source
from tests.server.conftest import Client
from tests.workbench.random_actions import branching, opened

TOKEN = "secret"


@pytest.fixture
def bench(tmp_path):
    found = opened(tmp_path)
    yield found
    found.journal.close()


@pytest.fixture
def client(bench):
    return Client(application(bench, TOKEN, 8000), "http://127.0.0.1:8000")


def get(client, path, **settings):
    return client.get(f"/{TOKEN}/{path}", **settings)


@pytest.mark.parametrize("path", ["", "edit.js", "api/info", "api/sentence/0"])
def test_strangers_are_refused(client, path):
    assert get(client, path).status_code == 200
    for token in ("", "wrong", "secre", "secretx"):
        assert client.get(f"/{token}/{path}").status_code == 403
    for name, value in [
        ("Host", "evil.example:8000"), ("Host", "127.0.0.1:80"), ("Origin", "http://evil.example"),
        ("Origin", "null"), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"),
    ]:  # fmt: skip
        assert get(client, path, headers={name: value}).status_code == 403, (name, value)
    assert get(client, path, headers={"Origin": "http://127.0.0.1:8000"}).status_code == 200


def test_a_stranger_changes_nothing(bench, client):
    body = {"version": bench.version(1), "action": {"do": "accept"}}
    assert client.post("/wrong/api/sentence/1", json=body).status_code == 403
    answer = client.post(f"/{TOKEN}/api/sentence/1", json=body, headers={"Origin": "http://evil.example"})
    assert answer.status_code == 403
    assert bench.state(1) == "untouched"


def test_the_page_loads_nothing_from_elsewhere(client):
    for name in ("", "edit.js", "panes.js", "layout.js", "edit.css"):
        answer = get(client, name)
        assert answer.status_code == 200
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "https://" not in answer.text
    assert get(client, "app.py").status_code == 404
    assert get(client, "..%2fapp.py").status_code == 404


def test_an_action_and_its_answers(client):
    first = get(client, "api/sentence/1").json()
    assert first["tree"]["labels"][2] == "NP"
    body = {"version": first["version"], "action": {"do": "relabel", "node": 2, "label": "NP-SBJ"}}
    second = client.post(f"/{TOKEN}/api/sentence/1", json=body)
    assert second.status_code == 200
    assert second.json()["tree"]["labels"][2] == "NP-SBJ"
    assert second.json()["state"] == "corrected"
    assert client.post(f"/{TOKEN}/api/sentence/1", json=body).status_code == 409
    body = {"version": second.json()["version"], "action": {"do": "dissolve", "node": 0}}
    refused = client.post(f"/{TOKEN}/api/sentence/1", json=body)
    assert refused.status_code == 422
    assert "root" in refused.json()["error"]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b'{"action": 1}', b'{"action": {"do": ["x"]}}', b"\xff"])
def test_nonsense_is_refused(client, data):
    assert client.post(f"/{TOKEN}/api/sentence/1", content=data).status_code in (409, 422)
    assert get(client, "api/sentence/999").status_code == 422


def test_the_list_and_help(client):
    info = get(client, "api/info").json()
    assert info["n"] == 6
    assert info["labels"] == ["S", "XP"]
    rows = get(client, "api/list?first=1&number=2").json()
    assert [row["i"] for row in rows["rows"]] == [1, 2]
    assert get(client, "api/list?pattern=NP%20%3C").status_code == 422
    assert get(client, "api/list?first=x").status_code == 422
    alternatives = get(client, "api/sentence/1/alternatives").json()
    assert alternatives["trees"]
    assert get(client, "api/sentence/1/alternatives?node=5&how=inside").json()["trees"]
    assert get(client, "api/sentence/1/alternatives?how=x").status_code == 422
    assert get(client, "api/sentence/1/confidences").json()["nodes"] == {}
    assert get(client, "api/progress").json()["accepted"] == 0
    assert client.post(f"/{TOKEN}/api/save").json() == {"saved": 0}


def test_a_parser_meets_what_a_person_wants(trained, tmp_path):
    trained.to_disk(tmp_path / "model")
    model = Model(str(tmp_path / "model"))
    words = "The old man saw a dog .".split()
    wanted = Wanted(words, [("NP", 2, 6)], [(None, 0, 3)], {3: "NN", 5: "ODD"})
    for tree in [model.propose(wanted), *model.alternatives(wanted)]:
        assert tree.words == tuple(words)
        assert ("NP", 2, 6) in tree.spans()
        assert not [one for one in tree.spans() if one[1:] == (0, 3)]
        assert (tree.tags[3], tree.tags[5]) == ("NN", "ODD")
    assert [list(one) for one in model.split("He ran.\n\nShe sat.")] == [["He", "ran", "."], ["She", "sat", "."]]


def test_what_is_before_the_place_where_a_person_is_stays(trained, tmp_path):
    trained.to_disk(tmp_path / "model")
    path = tmp_path / "own.txt"
    words = "The old man saw a dog in the park with a friend .".split()
    source = Source(path, [words])
    bench = Bench(source, Model(str(tmp_path / "model")), Journal(journal_path(path)))
    phrases = Counter(phrase for _, phrase in numbered_phrases(bench.tree(0)))
    for node, phrase in numbered_phrases(bench.tree(0)):
        before = Counter({one: n for one, n in phrases.items() if (one[1], -one[2]) < (phrase[1], -phrase[2])})
        for how in ("behind", "without"):
            for tree in bench.alternatives(0, node, how):
                found = Counter(one for _, one in numbered_phrases(tree))
                assert (
                    Counter({one: n for one, n in found.items() if (one[1], -one[2]) < (phrase[1], -phrase[2])})
                    == before
                )
                assert how == "behind" or phrase not in found
        for tree in bench.alternatives(0, node, "inside"):
            changed = set(phrases) ^ {one for _, one in numbered_phrases(tree)}
            assert all(phrase[1] <= one[1] and one[2] <= phrase[2] for one in changed)
    first = bench.tree(0).arrays.leaves[6]
    bench.act(0, bench.version(0), {"do": "wrap", "first": first, "last": first + 1, "label": "NEW", "force": True})
    before = {one for one in phrases if one[1] < 6 and one[2] <= 6}
    assert before <= {one for _, one in numbered_phrases(bench.tree(0))}
    chosen = bench.alternatives(0)[0]
    bench.act(0, bench.version(0), {"do": "choose", "tree": str(chosen)})
    assert bench.tree(0) == chosen
    bench.journal.close()


def test_without_a_parser_trees_branch_to_the_right():
    found = branching()
    found.learn(["it"], ["V"])
    tree = found.propose(Wanted("a b it d e".split(), [("NP", 1, 4)]))
    assert str(tree) == "(TOP (N a) (XP (NP (N b) (XP (V it) (N d))) (N e)))"
    with pytest.raises(IncparseError, match="'zz'"):
        list(Proposer(lang="zz").split("a b"))


@pytest.mark.slow
def test_a_first_parser_is_learned_from_accepted_trees(tmp_path, sample_train):
    learning = Learning(tmp_path / "own.model", None, every=20, lang="en", epochs=2)
    trees = [Tree.from_string(str(tree)) for tree in sample_train[:25]]
    assert not learning.start_if_due(trees, 19)
    assert learning.start_if_due(trees, 25)
    assert not learning.start_if_due(trees, 25)  # one at a time
    assert learning.wait(), learning.error
    assert len(learning.runs[0]["f"]) == 2
    assert Model(str(learning.model)).propose(Wanted(["He", "ran", "."])).words == ("He", "ran", ".")
    assert sorted(path.name for path in learning.folder.iterdir()) == ["dev.mrg", "log.txt", "model", "train.mrg"]
    learning.is_on = False
    assert not learning.start_if_due(trees * 2, 50)
    learning.is_on, learning._options = True, ["--from", "no-such-model"]
    assert learning.start_if_due(trees * 2, 50)
    assert not learning.wait()
    assert "no-such-model" in learning.error
    assert learning.model.is_dir()


def test_a_running_training_is_stopped(tmp_path, sample_train):
    learning = Learning(tmp_path / "own.model", None, every=5)
    learning.start_if_due(sample_train, len(sample_train))
    begun = time.monotonic()
    learning.stop()
    assert not learning.is_running
    assert time.monotonic() - begun < 60


def test_actions_per_word_by_blocks():
    assert actions_per_word([(10, 5)] * 20 + [(4, 1)]) == [0.5, 0.25]
