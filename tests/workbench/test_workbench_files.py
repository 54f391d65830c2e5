"""The journal and the file: what a crash, another program or a second server can do to them."""

import os
import signal
import subprocess
import sys
from itertools import accumulate
from pathlib import Path

import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.workbench.bench import Bench, ConflictError
from spacy_incparse.workbench.journal import Journal, journal_path
from spacy_incparse.workbench.sources import Source, conllu_sentences, kind_of
from tests.workbench.random_actions import TREES, branching, opened, seen


def act(bench, i, do, **action):
    bench.act(i, bench.version(i), {"do": do, **action})


def test_a_journal_cut_at_any_byte_is_that_of_an_earlier_moment(tmp_path):
    bench = opened(tmp_path)
    path, moments = bench.journal.path, {bench.journal.path.stat().st_size: seen(bench)}
    for do, action in [
        ("relabel", {"node": 2, "label": "NX"}), ("undo", {}), ("comment", {"text": "שלום \n\r (("}), ("accept", {})
    ]:  # fmt: skip
        act(bench, 1, do, **action)
        moments[path.stat().st_size] = seen(bench)
    bench.journal.close()
    data = path.read_bytes()
    n_first = lines_of(data)[0]
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        journal = Journal(path)
        journal.close()
        whole = max([one for one in moments if one <= size], default=0)
        assert len(path.read_bytes()) == max(whole, max([n for n in lines_of(data) if n <= size], default=n_first))
        if size % 97 == 0 or size in moments:
            again = opened(tmp_path)
            assert seen(again) == moments[max(whole, min(moments))]
            act(again, 0, "comment", text="goes on")
            again.journal.close()
            once_more = opened(tmp_path)
            assert once_more.comment(0) == "goes on"
            once_more.journal.close()


def lines_of(data):
    """Return the numbers of bytes of so many whole lines."""
    return list(accumulate(map(len, data.splitlines(keepends=True))))


def test_a_damaged_journal_is_refused_and_kept(tmp_path):
    bench = opened(tmp_path)
    act(bench, 1, "accept")
    act(bench, 2, "accept")
    bench.journal.close()
    data = bench.journal.path.read_bytes()
    damaged = data.replace(b"accept", b"accepd", 1)
    bench.journal.path.write_bytes(damaged)
    with pytest.raises(IncparseError, match=r"journal:3: .*damaged"):
        opened(tmp_path)
    assert bench.journal.path.read_bytes() == damaged
    bench.journal.path.write_bytes(b"my notes")
    with pytest.raises(IncparseError, match="no journal"):
        opened(tmp_path)
    assert bench.journal.path.read_bytes() == b"my notes"


def test_an_action_that_cannot_be_written_does_not_happen(tmp_path, monkeypatch):
    bench = opened(tmp_path)
    old, size = seen(bench), bench.journal.path.stat().st_size

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(IncparseError, match="No space left"):
        act(bench, 1, "accept")
    assert seen(bench) == old
    assert bench.journal.path.stat().st_size == size
    bench.journal.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_a_file_is_open_in_one_server_alone(tmp_path):
    bench = opened(tmp_path)
    with pytest.raises(IncparseError, match="another workbench"):
        opened(tmp_path)
    bench.journal.close()
    opened(tmp_path).journal.close()


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_killed_server_loses_nothing_that_was_acknowledged(tmp_path):
    opened(tmp_path).journal.close()
    code = """if True:
        import sys
        from pathlib import Path
        from tests.workbench.random_actions import opened
        bench = opened(Path(sys.argv[1]))
        for k in range(10_000):
            bench.act(1, bench.version(1), {"do": "comment", "text": str(k)})
            print(k, flush=True)
    """
    command = [sys.executable, "-c", code, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    for _ in range(30):
        acknowledged = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    acknowledged = max([acknowledged, *map(int, process.stdout.read().split())])
    process.wait()
    process.stdout.close()
    bench = opened(tmp_path)
    assert acknowledged <= int(bench.comment(1)) <= acknowledged + 1
    bench.journal.close()


def test_the_file_is_written_whole_and_only_where_it_changed(tmp_path, monkeypatch):
    bench = opened(tmp_path)
    path = bench.source.path
    assert bench.save() == 0
    act(bench, 1, "relabel", node=2, label="NP-SBJ")
    act(bench, 0, "relabel", node=2, label="NP-TPC")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(5, "Input/output error")))
        with pytest.raises(IncparseError, match="Input/output error"):
            bench.save()
    assert path.read_text("utf8") == TREES
    assert bench.save() == 2
    old, new = TREES.splitlines(), path.read_text("utf8").splitlines()
    assert new[0] == old[0]
    assert new[-4:] == old[-4:]
    assert "(TOP (S (NP-SBJ (PRP We)) (VP (VBP like)" in path.read_text("utf8")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["own.mrg", "own.mrg.journal"]
    bench.journal.close()


def test_line_ends_spelling_and_the_mark_of_a_file_stay(tmp_path):
    text = "\ufeff(TOP (X a))\r\n(TOP (S (`` ``) (NP (N a)) ('' '')))\r\n"
    path = tmp_path / "own.mrg"
    path.write_bytes(text.encode())
    bench = opened(tmp_path)
    bench.source = Source(path)
    act(bench, 1, "relabel", node=3, label="NX")
    bench.save()
    assert path.read_bytes() == text.replace("NP", "NX").encode()
    bench.journal.close()


@pytest.mark.parametrize(
    ("text", "node", "after"),
    [
        (
            "#BOS 1\nRain\train\tN\tSg\tSB\t500\nfalls\tfall\tV\t3\tHD\t500\n#500\t--\tS\t--\t--\t0\n#EOS 1\n",
            1,
            "#500\t--\tNEW\t--",
        ),
        ("(S (NP 0=Rain) (VP (V 1=falls)))\n# a remark\n", 0, "(NEW (NP 0=Rain) (VP (V 1=falls)))\n# a remark\n"),
        ("1\tRain\t_\tN\t_\t_\t0\t_\t_\tTree=(S(NP*))\n\n", 0, "Tree=(NEW(NP*))\n\n"),
        (
            "( (IP (NP (N rain-rain)) (VBP falls-fall)) (ID A,1))\n",
            1,
            "( (NEW (NP (N rain-rain)) (VBP falls-fall)) (ID A,1))\n",
        ),
    ],
)
def test_a_treebank_is_written_in_the_format_it_came_in(tmp_path, text, node, after):
    path = tmp_path / "own.file"
    path.write_text(text.replace("#BOS", "#FORMAT 4\n#BOS"))
    assert kind_of(path, path.read_text()) == "treebank"
    bench = Bench(Source(path), branching(), Journal(journal_path(path)))
    act(bench, 0, "relabel", node=node, label="NEW")
    bench.save()
    assert after in path.read_text()
    if "ID A" not in text:
        with pytest.raises(IncparseError, match="format fixes"):
            act(bench, 0, "trace", node=0, at=0, type="*")
    bench.journal.close()


def test_a_tree_with_crossing_branches_is_only_looked_at(tmp_path):
    path = tmp_path / "own.dbr"
    path.write_text("(S (X (N 0=a) (N 2=c)) (V 1=b))\n(S (NP 0=Rain) (V 1=falls))\n")
    bench = Bench(Source(path), branching(), Journal(journal_path(path)))
    with pytest.raises(IncparseError, match="branches cross"):
        act(bench, 0, "relabel", node=0, label="NEW")
    act(bench, 0, "accept")
    act(bench, 1, "relabel", node=0, label="NEW")
    bench.save()
    assert path.read_text() == "(S (X (N 0=a) (N 2=c)) (V 1=b))\n(NEW (NP 0=Rain) (V 1=falls))\n"
    bench.journal.close()


def test_another_programs_changes_are_not_overwritten(tmp_path):
    bench = opened(tmp_path)
    act(bench, 1, "relabel", node=2, label="NP-SBJ")
    bench.source.path.write_text(TREES.replace("Rain", "Snow"), encoding="utf8")
    with pytest.raises(IncparseError, match="another program"):
        bench.save()
    bench.journal.close()
    with pytest.raises(IncparseError, match="changed elsewhere"):
        opened(tmp_path)


def test_an_action_on_an_older_version_is_refused(tmp_path):
    bench = opened(tmp_path)
    version = bench.version(1)
    bench.act(1, version, {"do": "relabel", "node": 2, "label": "NP-SBJ"})
    with pytest.raises(ConflictError):
        bench.act(1, version, {"do": "relabel", "node": 2, "label": "NP-TPC"})
    bench.act(2, bench.version(2), {"do": "accept"})  # another sentence is another matter
    bench.act(1, bench.version(1), {"do": "undo"})
    assert bench.version(1) != version
    bench.journal.close()


def test_accepted_trees_of_a_text_are_written_beside_it(tmp_path):
    bench = opened(tmp_path, "text")
    act(bench, 1, "relabel", node=2, label="S")
    bench.save()
    assert not bench.source.target.exists()
    act(bench, 1, "comment", text="odd\nverb")
    act(bench, 1, "accept")
    bench.save()
    assert bench.source.target.read_text("utf8") == "# sentence 2: odd verb\n(TOP (N nobody) (S (N mends) (N it)))\n"
    bench.journal.close()


def test_conllu_gives_words_that_stay(tmp_path):
    path = tmp_path / "own.conllu"
    row = "{}\t{}\t_\t_\t_\t_\t_\t_\t_\t_\n"
    path.write_text("".join(row.format(i, w) for i, w in enumerate("It rains".split(), 1)) + "\n" + row.format(1, "Oh"))
    assert kind_of(path, "") == "conllu"
    source = Source(path, conllu_sentences(path), can_retokenize=False)
    assert [list(source.words(i)) for i in range(2)] == [["It", "rains"], ["Oh"]]
    bench = Bench(source, branching(), Journal(journal_path(source.target)))
    with pytest.raises(IncparseError, match=r"own\.conllu"):
        act(bench, 0, "split", node=1, at=1)
    bench.journal.close()
    path.write_text("1\tIt\n")
    with pytest.raises(IncparseError, match="line 1 has 2 columns"):
        conllu_sentences(path)


def test_lists(tmp_path):
    bench = opened(tmp_path)
    assert bench.listed(pattern="NP < PRP") == [1]
    act(bench, 2, "relabel", node=1, label="NP-SBJ")
    assert 2 in bench.listed(pattern="/NP-SBJ/ < NN")
    assert bench.listed(state="corrected") == [2]
    assert bench.listed(order="length")[0] == 5
    with pytest.raises(IncparseError):
        bench.listed(pattern="NP <")
    with pytest.raises(IncparseError, match="'size'"):
        bench.listed(order="size")
    bench.journal.close()


def test_a_second_annotators_trees_are_compared(tmp_path):
    other = tmp_path / "other.mrg"
    other.write_text(TREES.replace("(ADVP (RB softly))", "(RB softly)"), encoding="utf8")
    bench = opened(tmp_path, second=Source(other))
    tree, found = bench.beside(2)
    assert "softly" in tree.words
    assert (len(found.gold), len(found.parsed)) == (0, 1)
    act(bench, 2, "dissolve", node=5)
    assert bench.beside(2)[1].agreement.f == 1
    assert bench.agreement() == (1.0, 1)
    bench.journal.close()
    other.write_text("(TOP (X a))")
    with pytest.raises(IncparseError, match=r"other\.mrg has 1 trees"):
        opened(tmp_path, second=Source(other))


def test_hints_name_rules_that_no_other_tree_has(tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_incparse.workbench.bench.ENOUGH", 5)
    bench = opened(tmp_path)
    while bench.count(2):
        pass
    assert [hint["what"] for hint in bench.hints(1) if "NP CC NP" in hint["what"]] == ["NP -> NP CC NP was never seen"]
    assert not [hint for hint in bench.hints(1) if hint["what"].startswith("NP -> DT NN")]
    bench.journal.close()
