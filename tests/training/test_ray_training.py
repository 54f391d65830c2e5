"""Training on a local Ray cluster of two actors: the same bytes as without Ray. Needs the extra ray."""

from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.errors import IncparseError
from spacy_incparse.perceptron.perceptron_config import ParserConfig
from spacy_incparse.ray_workers import cluster, ray_pools
from tests.disturbed_workers import Elsewhere, Killed, prepare_absent, prepare_always_killed
from tests.pickled_pool import PickledPool
from tests.training.test_parallel_passes import TRAIN, run

pytestmark = pytest.mark.extras
ray = pytest.importorskip("ray")
SMALL = Path(__file__).parents[2] / "examples" / "small.json"


@pytest.fixture(scope="module")
def make_pool():
    yield ray_pools("local", 2)
    ray.shutdown()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {  # taggers and generative models are trained by actors, too
            "config": ParserConfig(features="paper", table_bits=10, train_generative_weight=5.0, generative_folds=2),
            "n_folds": 2,
        },
    ],
    ids=["passes", "everything"],
)
def test_actors_give_the_same_bytes(make_pool, settings):
    assert run(make_pool=make_pool, **settings) == run(make_pool=PickledPool, **settings)


def test_the_command(make_pool, tmp_path):
    """The cluster is that of `make_pool`, since this process has one already."""
    trees = tmp_path / "small.mrg"
    trees.write_text("\n".join(str(tree) for tree in TRAIN[:20]))
    files = {}
    for name, options in (("local", []), ("cluster", ["--ray", "local"])):
        arguments = ["train", trees, trees, tmp_path / name, "--config", SMALL, "--max-epochs", 1, "--n-process", 2]
        assert CliRunner().invoke(app, [*map(str, arguments), *options]).exit_code == 0
        files[name] = (tmp_path / name / "model-best" / "incparse" / "model").read_bytes()
    assert files["local"] == files["cluster"]


def test_a_connection_that_was_there_stays(make_pool):
    with cluster("local", 2) as used:
        assert used is ray
    assert ray.is_initialized()


def test_a_worker_is_killed_in_the_middle_of_a_pass(make_pool, tmp_path):
    def killing(prepare, n):
        return make_pool(Killed(prepare, tmp_path / "mark"), n)

    found = run(tmp_path / "state", make_pool=killing)
    assert (tmp_path / "mark").exists()
    assert found == run(make_pool=PickledPool)


@pytest.mark.parametrize("goes_on_with_ray", [True, False])
def test_an_interrupted_run_goes_on_with_or_without_ray(make_pool, tmp_path, goes_on_with_ray):
    def interrupt(what, done, total):
        if what == "pass 2":
            raise KeyboardInterrupt

    first, second = (make_pool, PickledPool)[:: -1 if goes_on_with_ray else 1]
    if goes_on_with_ray:
        run(tmp_path, make_pool=first, max_epochs=1)
    else:
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, make_pool=first, progress=interrupt)
    reports, models = run(tmp_path, make_pool=second, resume=True)
    assert [report[0] for report in reports] == [2]
    assert models == run(make_pool=PickledPool)[1]


def test_a_folder_that_a_machine_does_not_see(make_pool, tmp_path):
    with pytest.raises(IncparseError, match=f"does not see {tmp_path}/parts: train into a folder that all machines"):
        run(tmp_path, make_pool=lambda prepare, n: make_pool(Elsewhere(prepare), n))


def test_a_task_that_kills_every_actor_is_an_error(make_pool):
    pool = make_pool(prepare_always_killed, 2)
    with pytest.raises(IncparseError, match=r"3 worker processes ended at 7, the last with the message .* End of file"):
        list(pool.run(iter([7])))
    pool.close()


def test_a_machine_that_lacks_a_module(make_pool):
    pool = make_pool(prepare_absent, 2)
    with pytest.raises(
        IncparseError, match=r"an actor cannot begin: .*No module named 'absent': all machines need the"
    ):
        list(pool.run(iter([1])))
    pool.close()


def test_more_actors_than_processors_take_turns(make_pool):
    pool = make_pool(partial(partial, abs), 3)
    assert sorted(pool.run(iter(range(-6, 0)))) == [(number, -number) for number in range(-6, 0)]
    pool.close()
