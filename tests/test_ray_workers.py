"""Workers on a local Ray cluster of two actors. Needs the extra ray."""

from functools import partial

import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.ray import RayPool, cluster
from tests.disturbed_workers import prepare_absent, prepare_always_killed

pytestmark = pytest.mark.extras
ray = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def make_pool():
    with cluster("local", 2) as used:
        yield partial(RayPool, used)
    assert not ray.is_initialized()


def test_a_connection_that_was_there_stays(make_pool):
    with cluster("local", 2) as used:
        assert used is ray
    assert ray.is_initialized()


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
