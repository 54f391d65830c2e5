import multiprocessing
import pickle
import subprocess
import sys

import pytest
import spacy

import spacy_incparse
from spacy_incparse.errors import ConfigError, ModelError
from tests.small_pipeline import pipeline, untrained

TEXTS = ["The rain stopped before noon. Who left the gate open?", "", "  ", "She grows beans (and peas)."] * 3
OPTIONS = {"spans_key": "phrases", "nbest": 3, "noun_chunks": True}


def parses(nlp, **options):
    return [[str(tree) for tree in doc._.trees] for doc in nlp.pipe(TEXTS, **options)]


def test_to_disk(trained, tmp_path):
    trained.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert parses(loaded) == parses(trained)
    assert loaded.get_pipe("incparse").labels == trained.get_pipe("incparse").labels
    assert loaded.get_pipe("incparse").model.to_bytes() == trained.get_pipe("incparse").model.to_bytes()
    assert parses(spacy_incparse.load(tmp_path)) == parses(trained)


def test_pickle(trained):
    assert parses(pickle.loads(pickle.dumps(trained))) == parses(trained)
    component = pickle.loads(pickle.dumps(trained.get_pipe("incparse")))
    assert len(component(trained.make_doc("Stop"))._.trees) == 1


def test_search_settings_can_be_changed_on_loading(trained, tmp_path):
    trained.to_disk(tmp_path)
    loaded = spacy.load(tmp_path, config={"components.incparse.search.beam_size": 2})
    assert loaded.get_pipe("incparse").decoder.parser.config.beam_size == 2


def test_a_saved_pipeline_needs_no_other(trained, tmp_path):
    trained.to_disk(tmp_path / "first")
    nlp = pipeline(model=str(tmp_path / "first"))
    nlp.to_disk(tmp_path / "second")  # before the weights were ever used
    (tmp_path / "first").rename(tmp_path / "gone")
    assert parses(spacy.load(tmp_path / "second")) == parses(trained)


def test_search_settings_of_another_kind_of_parser(trained, tmp_path):
    trained.to_disk(tmp_path)
    wrong, message = {"list_size": 20}, "'list_size'"
    with pytest.raises(ConfigError, match=message):
        spacy.load(tmp_path, config={"components": {"incparse": {"search": wrong}}})
    with pytest.raises(ConfigError, match=message):
        spacy.blank("en").add_pipe("incparse", config={"model": str(tmp_path), "search": wrong})
    component = spacy.load(tmp_path).get_pipe("incparse")
    with pytest.raises(ConfigError, match=message):
        spacy.blank("en").add_pipe("incparse", config={"search": wrong}).from_bytes(component.to_bytes())
    with pytest.raises(ConfigError, match=message):
        component.search = wrong
    assert "list_size" not in component.search


def test_a_component_can_be_sourced(trained):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("incparse", source=trained)
    assert parses(nlp) == parses(trained)


@pytest.mark.parametrize("factory", ["incparse", "incparse_tagger"])
def test_a_missing_model_is_told_by_add_pipe(factory):
    nlp = spacy.blank("en")
    with pytest.raises(ModelError, match="cannot find the pipeline 'no-such-model'"):
        nlp.add_pipe(factory, config={"model": "no-such-model"})
    assert nlp.pipe_names == []


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes(trained, tmp_path, method):
    """Each start method in an interpreter of its own: it can be set only once."""
    trained.to_disk(tmp_path / "pipeline")
    script = tmp_path / "script.py"
    given = {"path": str(tmp_path / "pipeline"), "method": method, "texts": TEXTS, "options": OPTIONS}
    script.write_text(SCRIPT.format(**given), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    nlp = untrained(**OPTIONS).from_bytes(trained.to_bytes())
    assert done.stdout.splitlines() == [shown(doc) for doc in nlp.pipe(TEXTS)]


def shown(doc):
    """As the script prints it: trees, the mirror of their phrases, noun chunks, scores of the stored analyses."""
    spans = [span.text for span in doc.spans["phrases"]], [span.text for span in doc.noun_chunks]
    return str(([str(tree) for tree in doc._.trees], spans, [[p.score for p in parses] for parses in doc._.parses(3)]))


SCRIPT = """
import multiprocessing
import spacy

if __name__ == "__main__":
    multiprocessing.set_start_method({method!r})
    nlp = spacy.load({path!r}, config={{"components": {{"incparse": {options!r}}}}})
    for doc in nlp.pipe({texts!r}, n_process=2, batch_size=2):
        spans = [span.text for span in doc.spans["phrases"]], [span.text for span in doc.noun_chunks]
        scores = [[p.score for p in parses] for parses in doc._.parses(3)]
        print(([str(tree) for tree in doc._.trees], spans, scores))
"""


def test_the_package_is_light_to_import():
    code = "import sys, spacy_incparse; print(spacy_incparse.__version__, 'spacy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [spacy_incparse.__version__, "False"]
