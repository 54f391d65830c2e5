import pytest
import srsly
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.neural.training import NeuralPasses
from tests.neural.tiny_encoder import needs_transformers, write_encoder
from tests.small_pipeline import ASSETS

TRAIN = DEV = ASSETS / "sample-dev.mrg"  # few sentences, which is enough here
N_PASSES = 2


def train(folder, *options, passes=N_PASSES, trees=TRAIN):
    words = ["train", trees, DEV, folder, "--config", "neural", "--max-epochs", passes, *options]
    return CliRunner().invoke(app, list(map(str, words)))


def interrupt(monkeypatch, passes_before, share=0.5):
    """Let a run be interrupted within the pass after so many, when so much of it is done."""
    learn = NeuralPasses.learn

    def stop(self, number, on_step, *parts):
        def count(done, total):
            if number > passes_before and done > share * total:
                raise KeyboardInterrupt
            on_step(done, total)

        return learn(self, number, count, *parts)

    monkeypatch.setattr(NeuralPasses, "learn", stop)


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    skipped = {"config.cfg", "meta.json"}  # they name the folder, and have the time in them
    return {path.relative_to(folder): path.read_bytes() for path in files if path.name not in skipped}


def lines(result):
    """The lines of the passes, without their seconds."""
    rows = [line.split() for line in result.stdout.splitlines()]
    return [row[:6] for row in rows if row and row[0].isdigit() and row[1] != "sentences"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "out"
    return folder, train(folder)


@pytest.mark.slow
@pytest.mark.parametrize("passes_before", [0, 1])
def test_a_resumed_run_gives_the_same_pipeline(whole, tmp_path, monkeypatch, passes_before):
    folder, expected = whole
    with monkeypatch.context() as patch:
        interrupt(patch, passes_before)
        stopped = train(tmp_path / "out")
    assert stopped.exit_code == 130
    after = "after them" if passes_before else "with the first one"
    assert stopped.stderr.rstrip().endswith(f"--resume continues {after}")
    resumed = train(tmp_path / "out", "--resume")
    assert resumed.exit_code == 0, resumed.output
    assert lines(stopped) + lines(resumed) == lines(expected)
    assert len(lines(expected)) == N_PASSES
    assert contents(tmp_path / "out" / "model-best") == contents(folder / "model-best")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["model-best"]


@pytest.mark.slow
def test_a_run_resumed_within_a_pass_gives_the_same_pipeline(tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_incparse.neural.training.PART", 1)
    trees = tmp_path / "train.mrg"
    trees.write_text(3 * TRAIN.read_text(encoding="utf8"), encoding="utf8")  # several updates
    expected = train(tmp_path / "whole", trees=trees)
    monkeypatch.setattr("spacy_incparse.cli.train_neural.SAVE_SECONDS", 0.0)
    with monkeypatch.context() as patch:
        interrupt(patch, 1, share=0.99)
        stopped = train(tmp_path / "out", trees=trees)
    (state,) = (tmp_path / "out" / "state" / "neural").iterdir()
    assert state.name.startswith("pass-1.")
    resumed = train(tmp_path / "out", "--resume", trees=trees)
    assert lines(stopped) + lines(resumed) == lines(expected)
    assert contents(tmp_path / "out" / "model-best") == contents(tmp_path / "whole" / "model-best")


@needs_transformers
@pytest.mark.slow
def test_a_resumed_run_with_an_encoder(tmp_path, monkeypatch):
    (tmp_path / "encoder").mkdir()
    encoder = write_encoder(tmp_path / "encoder")
    options = ["--encoder", encoder]
    assert train(tmp_path / "whole", *options).exit_code == 0
    with monkeypatch.context() as patch:
        interrupt(patch, 1)
        assert train(tmp_path / "out", *options).exit_code == 130
    resumed = train(tmp_path / "out", *options, "--resume")
    assert resumed.exit_code == 0, resumed.output
    assert contents(tmp_path / "out" / "model-best") == contents(tmp_path / "whole" / "model-best")


@pytest.mark.slow
def test_what_cannot_be_resumed(tmp_path, monkeypatch):
    out = tmp_path / "out"
    nothing = train(out, "--resume")
    assert (nothing.exit_code, "there is no training to resume in" in nothing.stderr) == (1, True)
    with monkeypatch.context() as patch:
        interrupt(patch, 1)
        train(out)
    assert "continue with --resume, or" in train(out).stderr
    longer = train(out, "--resume", passes=N_PASSES + 1)
    assert (longer.exit_code, "other trees or settings, such as --max-epochs" in longer.stderr) == (1, True)
    (state,) = (out / "state" / "neural").iterdir()
    for name in ("optimizer.npz", "incparse_neural.bin"):
        content = (state / name).read_bytes()
        (state / name).write_bytes(content[: len(content) // 2])
        damaged = train(out, "--resume")
        assert (damaged.exit_code, "pass-1 is damaged" in damaged.stderr) == (1, True), (name, damaged.output)
        (state / name).write_bytes(content)
    srsly.write_json(state / "state.json", {})
    assert "pass-1 is damaged" in train(out, "--resume").stderr


@pytest.mark.slow
def test_states_of_other_trainings_are_removed(tmp_path, monkeypatch):
    out, rich = tmp_path / "out", ["--config", "rich", "--force"]
    with monkeypatch.context() as patch:
        interrupt(patch, 1)
        train(out)
    assert train(out, *rich, passes=1).exit_code == 0
    assert not (out / "state" / "neural").exists()
    assert train(out, "--force", passes=1).exit_code == 0
    assert sorted(path.name for path in out.iterdir()) == ["model-best"]
