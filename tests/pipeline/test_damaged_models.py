import pickle
import re
import shutil
from pathlib import Path

import pytest
import spacy
import srsly

import spacy_incparse
from spacy_incparse.errors import ModelError
from spacy_incparse.pipeline.loading import load_for_texts
from spacy_incparse.pipeline.model import pack, read_parts, unpack
from tests.small_pipeline import untrained

PACKAGE = Path(spacy_incparse.__file__).parent


@pytest.fixture(scope="module")
def saved(trained, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "pipeline"
    trained.to_disk(folder)
    return folder


@pytest.fixture
def folder(saved, tmp_path):
    return Path(shutil.copytree(saved, tmp_path / "pipeline"))


def change(path, function):
    path.write_bytes(function(path.read_bytes()))


def flip(data, position):
    return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("code of the model was run",)


def with_part(data, name, part):
    return pack(unpack(data) | {name: part})


def with_grammar(data, name, value):
    """Change the labels or tags in the parser of a model."""
    parts = unpack(data)
    parser = srsly.msgpack_loads(parts["parser"])
    grammar = parser["model"]["grammar"]
    grammar[name] = [value, *grammar[name][1:]]
    return pack(parts | {"parser": srsly.msgpack_dumps(parser)})


DAMAGES = {
    "a label that is no text": (lambda data: with_grammar(data, "nonterminals", 7), "nonterminals there is 7, which"),
    "a tag that is no text": (lambda data: with_grammar(data, "tags", [1]), r"tags there is \[1\], which is no text"),
    "version": (
        lambda data: data.replace(b"model 3", b"model 7", 1),
        "format 'spacy-incparse model 7', but this version",
    ),
    "empty": (lambda data: b"", "truncated"),
    "cut in the first line": (lambda data: data[:9], "truncated"),
    "cut in the checksum": (lambda data: data[:27], "truncated"),
    "cut in the middle": (lambda data: data[: len(data) // 2], "damaged or truncated: its checksum differs"),
    "one byte less": (lambda data: data[:-1], "its checksum differs"),
    "one bit in the weights": (lambda data: flip(data, len(data) // 2), "its checksum differs"),
    "one bit in the checksum": (lambda data: flip(data, 25), "its checksum differs"),
    "a pickle": (lambda data: pickle.dumps(Bomb()), "this version reads"),
    "a pickle inside": (lambda data: with_part(data, "parser", pickle.dumps(Bomb())), "not a parser model"),
    "a part of another kind": (lambda data: pack({"parser": [1, 2]}), "not a map of byte strings"),
    "a tagger that is none": (lambda data: with_part(data, "tagger", b"junk"), "tagger"),
}
WAYS = {
    "spacy.load": spacy.load,
    "spacy_incparse.load": spacy_incparse.load,
    "from_disk": lambda folder: untrained().from_disk(folder),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_weights(folder, damage):
    function, what = DAMAGES[damage]
    change(folder / "incparse" / "model", function)
    with pytest.raises(ModelError, match=what) as caught:
        list(WAYS.values())[list(DAMAGES).index(damage) % len(WAYS)](folder)
    assert re.search(r"incparse.model: ", str(caught.value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("way", WAYS)
def test_missing_weights(folder, way):
    (folder / "incparse" / "model").unlink()
    with pytest.raises(ModelError, match=r"incparse: the model is incomplete: 'model' is missing"):
        WAYS[way](folder)
    shutil.rmtree(folder / "incparse")
    with pytest.raises(ModelError, match=r"incparse: the model is incomplete"):
        WAYS[way](folder)


@pytest.mark.parametrize("damage", ["version", "empty", "one byte less", "a part of another kind"])
def test_as_a_source_they_are_refused_by_add_pipe(folder, damage):
    function, what = DAMAGES[damage]
    change(folder / "incparse" / "model", function)
    nlp = spacy.blank("en")
    with pytest.raises(ModelError, match=what):
        nlp.add_pipe("incparse", config={"model": str(folder)})
    assert nlp.pipe_names == []


def test_pipelines_without_the_component_or_nowhere_are_told(tmp_path):
    spacy.blank("en").to_disk(tmp_path)
    with pytest.raises(ModelError, match="has no component incparse"):
        read_parts(tmp_path, "incparse")
    with pytest.raises(ModelError, match="cannot find the pipeline 'nowhere'"):
        spacy_incparse.load("nowhere")


def test_a_damaged_config(folder):
    change(folder / "config.cfg", lambda data: data[: len(data) // 2] + b"\n[nlp\n")
    with pytest.raises(ModelError, match=r"config\.cfg: the config cannot be read") as caught:
        spacy_incparse.load(folder)
    assert "\n" not in str(caught.value)


def test_the_settings_of_a_component_cut_short(folder):
    change(folder / "incparse" / "cfg", lambda data: data[:1])
    with pytest.raises(ModelError, match="incparse: the component cannot be read"):
        spacy.load(folder)
    with pytest.raises(ModelError, match=r"pipeline' cannot be loaded: .*incparse: the component"):
        load_for_texts(str(folder))


def test_a_component_keeps_its_weights_where_others_are_refused(folder, trained):
    nlp = untrained().from_bytes(trained.to_bytes())
    before = nlp.get_pipe("incparse").model.to_bytes()
    change(folder / "incparse" / "model", lambda data: data[:-100])
    with pytest.raises(ModelError):
        nlp.from_disk(folder)
    with pytest.raises(ModelError):
        nlp.get_pipe("incparse").from_disk(folder / "incparse")
    with pytest.raises(ModelError):
        nlp.get_pipe("incparse").model.from_bytes(with_part(before, "tagger", b"junk"))
    assert nlp.get_pipe("incparse").model.to_bytes() == before
    assert nlp("The rain stopped.")._.trees


def test_the_tagger_component_is_as_careful(trained, tmp_path):
    nlp = spacy.blank("en")
    trained.to_disk(tmp_path / "source")
    nlp.add_pipe("incparse_tagger", config={"model": str(tmp_path / "source")})
    nlp.to_disk(tmp_path / "tagger")
    change(tmp_path / "tagger" / "incparse_tagger" / "model", lambda data: flip(data, 300))
    for load in (spacy.load, spacy_incparse.load):
        with pytest.raises(ModelError, match=r"incparse_tagger.model: .*checksum differs"):
            load(tmp_path / "tagger")


def test_what_is_excluded_need_not_be_there(folder):
    shutil.rmtree(folder / "incparse")
    assert spacy_incparse.load(folder, exclude=["incparse"]).pipe_names == ["sentencizer"]
    assert spacy_incparse.load(folder, exclude="incparse").pipe_names == ["sentencizer"]


def test_nothing_in_the_package_reads_pickles():
    for path in PACKAGE.rglob("*.py*"):
        if path.suffix in (".py", ".pyx"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"^\s*(import|from) (pickle|cPickle|marshal|dill|cloudpickle|shelve)\b", text, re.M), (
                path
            )
            assert not re.search(r"(?<![\w.])(eval|exec)\(", text), path
            assert "allow_pickle" not in text, path
