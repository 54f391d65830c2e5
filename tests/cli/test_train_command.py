import itertools
import pkgutil
import re
import shutil
from pathlib import Path

import pytest
import spacy

from spacy_incparse import workers
from spacy_incparse.parsing.catalogue import recipes
from tests.pickled_pool import PickledPool


def test_the_result_is_a_complete_pipeline(model):
    nlp = spacy.load(model)
    assert nlp.pipe_names == ["senter", "incparse_tagger", "incparse"]
    doc = nlp("The rain stopped. It is cold.")
    assert [tree.label for tree in doc._.trees] == ["TOP", "TOP"]
    assert all(token.tag_ for token in doc)
    assert doc._.trees[0].tags == tuple(token.tag_ for token in next(iter(doc.sents)))
    assert 0 < nlp.meta["performance"]["const_f"] < 1
    assert nlp.get_pipe("incparse").model.temperature > 0  # fitted on the dev trees


def test_the_parser_has_its_own_tagger(model):
    nlp = spacy.load(model)
    text = "The rain stopped. It is cold."
    trees = nlp(text)._.trees
    nlp.remove_pipe("incparse_tagger")
    assert nlp(text)._.trees == trees


def _bytes(out_dir):
    return {
        path.relative_to(out_dir): path.read_bytes() for path in (out_dir / "model-best").rglob("*") if path.is_file()
    }


def test_same_seed_same_model_also_when_resumed(run, trained, train_file, dev_file, tmp_path):
    arguments = ["train", train_file, dev_file, tmp_path / "out"]
    assert run(*arguments, "--max-epochs", 1).exit_code == 0
    result = run(*arguments, "--max-epochs", 2, "--resume")
    assert (result.exit_code, result.stderr) == (0, "")  # nothing of the progress is in piped output
    assert [line.split()[0] for line in result.stdout.splitlines()[2:-1]] == ["2"]
    assert _bytes(tmp_path / "out") == _bytes(trained[0])


SMALL_CONFIG = Path(__file__).parents[1] / "data" / "small.json"  # trains fast
SMALL = "(S (NP (NN rain)) (VP (VBZ falls)))\n(S (NP (NNS days)) (VP (VBP pass)))\n"


@pytest.fixture
def interrupted(run, write, tmp_path, monkeypatch):
    """Train on two trees, and interrupt that where a function is called for the n-th time; give what is said."""
    trees = write("small.mrg", SMALL)

    def _interrupted(function, *options, call=1):
        module, _, name = function.rpartition(".")
        original, calls = getattr(pkgutil.resolve_name(module), name), itertools.count(1)

        def stop(*args, **kwargs):
            if next(calls) == call:
                raise KeyboardInterrupt
            return original(*args, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr(function, stop)
            result = run("train", trees, trees, tmp_path / "out", "--config", SMALL_CONFIG, "--max-epochs", 3, *options)
        assert result.exit_code == 130
        return result.stderr

    return _interrupted


def test_interrupted_run_says_how_to_go_on(run, interrupted, tmp_path):
    trees, loop = tmp_path / "small.mrg", "spacy_incparse.training.loop"
    resume = ["train", trees, trees, tmp_path / "out", "--config", SMALL_CONFIG, "--max-epochs", 3, "--resume"]
    begun = "Interrupted: the preparation is not finished, --resume starts it again\n"
    no_pass = "Interrupted: no pass is finished yet, --resume continues with the first one\n"
    passes = "Interrupted: finished passes are saved, --resume continues after them\n"
    assert interrupted(f"{loop}.TrainingTask.prepare") == begun
    assert interrupted(f"{loop}.TrainingTask.prepare", "--resume") == begun
    assert interrupted(f"{loop}.learn_pass", "--resume") == no_pass
    assert interrupted(f"{loop}.TagSchedule", "--resume") == no_pass
    assert interrupted(f"{loop}.learn_pass", "--resume", call=2) == passes
    assert interrupted(f"{loop}.learn_pass", "--resume") == passes
    loading = interrupted(f"{loop}.fingerprint", "--resume")
    assert loading == "Interrupted: nothing has changed\n"
    result = run(*resume)
    assert [line.split()[0] for line in result.stdout.splitlines()[2:-1]] == ["2", "3"]
    assert interrupted(f"{loop}.TrainingTask.prepare", "--force") == begun  # what was there is of another training
    assert interrupted(f"{loop}.learn_pass", "--force") == no_pass


def test_a_resumed_training_whose_pipeline_is_gone(run, write, tmp_path):
    trees, best = write("small.mrg", SMALL), tmp_path / "out" / "model-best"
    arguments = ["train", trees, trees, tmp_path / "out", "--config", SMALL_CONFIG]
    assert run(*arguments, "--max-epochs", 2).exit_code == 0
    shutil.rmtree(best)
    result = run(*arguments, "--max-epochs", 2, "--resume")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"Error: all 2 passes are finished, but their pipeline is no longer in {best}")
    assert "higher --max-epochs, or start again without --resume" in result.stderr
    assert not best.exists()
    assert run(*arguments, "--max-epochs", 4, "--resume").exit_code == 0
    assert spacy.load(best)("rain falls")._.trees


def test_a_pipeline_is_replaced_on_request_only(run, write, tmp_path):
    trees = write("small.mrg", SMALL)
    arguments = ["train", trees, trees, tmp_path / "out", "--config", SMALL_CONFIG, "--max-epochs", 1]
    assert run(*arguments).exit_code == 0
    before = _bytes(tmp_path / "out")
    refused = run(*arguments, "--seed", 1)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert re.match(r"Error: there is already a pipeline in .*model-best: .* --resume, .* --force\n", refused.stderr)
    assert _bytes(tmp_path / "out") == before
    assert run(*arguments, "--seed", 1, "--force").exit_code == 0
    assert _bytes(tmp_path / "out") != before
    assert "exclude each other" in run(*arguments, "--resume", "--force").stderr


def test_a_training_goes_on_with_its_language(run, write, tmp_path):
    trees = write("small.mrg", SMALL)
    arguments = ["train", trees, trees, tmp_path / "out", "--config", SMALL_CONFIG]
    assert run(*arguments, "--max-epochs", 1, "--lang", "tr").exit_code == 0
    result = run(*arguments, "--max-epochs", 2, "--resume", "--lang", "de")
    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        "the training was begun with the language 'tr', not 'de': pass --lang tr, or start again with --force"
        in result.stderr
    )
    assert run(*arguments, "--max-epochs", 2, "--resume", "--lang", "tr").exit_code == 0
    assert run(*arguments, "--max-epochs", 1, "--force", "--lang", "de").exit_code == 0


def test_a_place_that_is_taken_by_something_else(run, write, train_file, dev_file, tmp_path):
    (tmp_path / "model-best").mkdir()
    (tmp_path / "model-best" / "notes.txt").touch()
    result = run("train", train_file, dev_file, tmp_path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"there is already something in {tmp_path / 'model-best'} that is no pipeline" in result.stderr
    assert run("train", train_file, dev_file, tmp_path, "--resume-or-start").exit_code == 1
    assert "file is a file" in run("train", train_file, dev_file, write("file", "") / "out").stderr


def test_labels_of_the_transform_are_told_with_their_place(run, write, train_file, dev_file, tmp_path):
    trees = write("slash.mrg", train_file.read_text(encoding="utf8") + "(S (NP/NP (NN dog)) (VP (VBD ran)))\n")
    result = run("train", trees, dev_file, tmp_path / "out", "--config", SMALL_CONFIG, "--max-epochs", 1)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert re.search(r"slash\.mrg:\d+:1: the phrase label 'NP/NP' has the form A/A", result.stderr)
    result = run("train", trees, dev_file, tmp_path / "out", "--config", SMALL_CONFIG, "--max-epochs", 1, "--skip-bad")
    assert result.exit_code == 0
    assert result.stdout.startswith("234 sentences to train on")


def test_clusters_are_read_from_a_file(run, write, train_file, dev_file, tmp_path):
    clusters = write("clusters.txt", "00\tthe\t9\n01\ta\t5\n10\ttrain\t2\n11\train\t2\n")
    options = ["--config", SMALL_CONFIG, "--clusters", clusters, "--max-epochs", 1]
    result = run("train", train_file, dev_file, tmp_path / "out", *options)
    assert result.exit_code == 0
    clusters.unlink()
    nlp = spacy.load(tmp_path / "out" / "model-best")
    assert len(nlp.get_pipe("incparse").model.parser.clusters) == 4
    assert nlp.config["components"]["incparse"]["training"]["clusters"] == str(clusters)
    assert nlp("The rain stopped.")._.trees


def test_a_generative_model_has_a_temperature_fitted_on_the_dev_trees(run, train_file, dev_file, tmp_path):
    run("train", train_file, dev_file, tmp_path, "--config", "generative")
    temperature = spacy.load(tmp_path / "model-best").get_pipe("incparse").model.temperature
    assert temperature not in (None, 1.0)


def test_a_flag_starts_resumes_or_finds_a_training_finished(run, write, interrupted, tmp_path):
    trees, out = write("small.mrg", SMALL), tmp_path / "out"
    loop = "spacy_incparse.training.loop"
    flag, resume = "--resume-or-start", ["--config", SMALL_CONFIG, "--max-epochs", 3, "--resume-or-start"]
    interrupted(f"{loop}.TrainingTask.prepare", flag)
    interrupted(f"{loop}.TrainingState.save_preparation", flag)
    interrupted(f"{loop}.TrainingState.save_learner", flag, call=2)
    assert run("train", trees, trees, out, *resume).exit_code == 0
    assert run("train", trees, trees, tmp_path / "whole", *resume).exit_code == 0
    assert _bytes(out) == _bytes(tmp_path / "whole")
    shutil.rmtree(out / "state")
    again = run("train", trees, trees, out, *resume)
    assert (again.exit_code, again.stdout) == (
        0,
        f"The training is finished: the pipeline is in {out / 'model-best'}\n",
    )
    other = run("train", trees, trees, tmp_path / "whole", *resume, "--seed", 5)
    assert (other.exit_code, "other trees or settings" in other.stderr) == (1, True)


def test_fine_tuning_goes_on_from_a_pipeline(run, model, write, tmp_path):
    trees = write("new.mrg", "(S (NP (NN rain)) (ZP (WOW falls) (. .)))\n(ZP (WOW Days) (NP (NN pass)))\n")
    base = spacy.load(model)
    base.add_pipe("incparse_phrases")
    base.to_disk(tmp_path / "base")
    arguments = ["train", trees, trees, tmp_path / "out", "--max-epochs", 2, "--from"]
    result = run(*arguments, tmp_path / "base")
    assert result.exit_code == 0
    assert f"will not have the components incparse_phrases of {tmp_path / 'base'}" in result.stderr
    assert "ZP" in spacy.load(tmp_path / "out" / "model-best").get_pipe("incparse").labels
    before = _bytes(tmp_path / "out")
    assert "will not have" not in run(*arguments, model, "--force").stderr
    assert {**_bytes(tmp_path / "out"), Path("model-best/meta.json"): b""} == {
        **before,
        Path("model-best/meta.json"): b"",
    }


def test_a_combination_is_not_fine_tuned(run, model, train_file, dev_file, tmp_path):
    nlp = spacy.load(model)
    nlp.add_pipe("incparse", name="second", source=spacy.load(model))
    nlp.add_pipe("incparse_combiner")
    nlp.to_disk(tmp_path / "both")
    result = run("train", train_file, dev_file, tmp_path / "out", "--from", tmp_path / "both")
    assert result.exit_code == 1
    assert (
        "come from the component 'incparse_combiner', but only an 'incparse' or 'incparse_neural' can be fine-tuned"
        in result.stderr
    )


def test_several_processes(run, write, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "WorkerPool", PickledPool)
    trees = write("small.mrg", 4 * SMALL)
    arguments = ["train", trees, trees, tmp_path / "out", "--config", SMALL_CONFIG, "--max-epochs", 2]
    result = run(*arguments, "--n-process", 2)
    assert [line.split()[0] for line in result.stdout.splitlines()[2:-1]] == ["1", "2"]
    assert spacy.load(tmp_path / "out" / "model-best")("rain falls")._.trees
    assert run(*arguments, "--resume", "--max-epochs", 3).stdout.splitlines()[-2].split()[0] == "3"


def test_extra_trees(run, write, train_file, dev_file, tmp_path):
    extra = write("parsed.mrg", "# document 0 rain\n" + "(TOP (X (NEW gnus) (VBP run)))\n" * 8)
    given = ["train", train_file, dev_file, tmp_path / "out", "--config", SMALL_CONFIG, "--max-epochs", 1]
    result = run(*given, "--extra", extra, "--extra-weight", 0.5)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("234 sentences and 8 extra ones to train on, 50 to choose the best pass\n")
    assert "X" in spacy.load(tmp_path / "out" / "model-best").get_pipe("incparse").labels


NEURAL = "cannot be used with --config neural: a neural parser"
TUNED = "cannot be used with --from en: a pipeline that is fine-tuned keeps its"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--config generative --n-process 2", "--n-process 2: a generative parser is trained in one process"),
        ("--config neural --n-process 2", f"--n-process 2 {NEURAL} is trained in one process"),
        ("--config neural --clusters en", f"--clusters en {NEURAL} does not read word clusters"),
        (
            "--config {small} --encoder none",
            "--encoder none cannot be used with --config {small}: it is for --config n",
        ),
        (
            "--config {small} --init-tok2vec {small}",
            "--init-tok2vec {small} cannot be used with --config {small}: it is",
        ),
        ("--config {small} --gpu 0", "--gpu 0 cannot be used with --config {small}: it is for neural parsers\n"),
        ("--config {small} --mixed-precision", "--mixed-precision"),
        ("--config neural --mixed-precision --encoder somewhere", "goes with --encoder and --gpu\n"),
        ("--config neural --mixed-precision --gpu 0 --encoder none", "goes with --encoder and --gpu\n"),
        ("--config neural --gpu -7", "Invalid value for '--gpu'"),
        ("--config rich --lang punctuation", "spaCy has no tokenizer for the language 'punctuation'"),
        ("--config neural --lang punctuation", "spaCy has no tokenizer for the language 'punctuation'"),
        ("--config Neural", f"--config 'Neural' is neither a file nor one of {', '.join(recipes())}, neural\n"),
        ("--from en --config {small}", f"--config {{small}} {TUNED} settings"),
        ("--from en --lang de", f"--lang de {TUNED} language"),
        ("--from en --heads {small}", f"--heads {{small}} {TUNED} head rules"),
        ("--from en --clusters en", f"--clusters en {TUNED} word clusters"),
        ("--from en_generative", "cannot be fine-tuned: train a new one"),
        ("--extra-weight 0.5", "--extra-weight 0.5: there are no extra trees: name a file of them with --extra"),
        ("--extra {dev} --extra-weight 0", "extra_weight is 0.0: it must be a number from 0.001 to 100"),
        (
            "--extra {dev} --extra-weight 2 --config generative",
            "--extra-weight 2: a generative parser is trained in one",
        ),
        ("--extra {wrong}", "{wrong}:1:"),
        ("--clusters {wrong}", "{wrong}:2: the path '0x' is not made of 0 and 1\n"),
        ("--resume", "there is no training to resume in {out}"),
        ("--config generative --resume", "one pass"),
    ],
)
def test_options_that_are_refused(refused, write, train_file, dev_file, tmp_path, options, message):
    wrong = write("wrong", "(TOP (X (NEW gnus)\n" if "--extra" in options else "00\tthe\t9\n0x\ta\t5\n")
    names = {"small": SMALL_CONFIG, "dev": dev_file, "wrong": wrong, "out": tmp_path / "out"}
    error = refused("train", train_file, dev_file, tmp_path / "out", *options.format(**names).split())
    assert message.format(**names) in error
    assert error.startswith("Error: ")
    assert not (tmp_path / "out" / "model-best").exists()
