import spacy

from spacy_incparse.pipeline.registered import batch_by_pass


def test_one_batch_has_all():
    assert list(batch_by_pass(iter(range(5)))) == [[0, 1, 2, 3, 4]]
    assert list(batch_by_pass([])) == []


def test_the_batcher_is_registered():
    assert spacy.registry.get("batchers", "spacy_incparse.batch_by_pass.v1")() is batch_by_pass
