import json
import re

import pytest

from spacy_incparse.cli.parse import split_tag
from spacy_incparse.treebanks.reader import parse_bracketed


@pytest.mark.parametrize(
    ("token", "word", "tag"),
    [
        ("fish_NN", "fish", "NN"),
        ("fish", "fish", ""),
        ("fish_", "fish", ""),
        ("_", "_", ""),
        ("__NN", "_", "NN"),
        ("snake_case_NN", "snake_case", "NN"),
        (r"snake\_case", "snake_case", ""),
        (r"snake\_case_NN", "snake_case", "NN"),
        (r"\_", "_", ""),
        (r"\__NN", "_", "NN"),
        (r"C:\\_NN", "C:\\", "NN"),
        (r"C:\_NN", "C:_NN", ""),
        ("C:\\", "C:\\", ""),
        (r"1\/2_CD", r"1\/2", "CD"),
        ("(_-LRB-", "(", "-LRB-"),
        ("_NN", "", "NN"),
    ],
)
def test_tokens_are_parted_at_the_last_underscore(token, word, tag):
    assert split_tag(token) == (word, tag)


def tags_of(text):
    return [tree.tags for tree in parse_bracketed(text)]


def test_given_tags_are_those_of_the_tree(run, model):
    lines = "The_DT rain_NN stopped_VBD ._.\n\nIt_PRP is_VBZ cold_NN ._.\n"
    result = run("parse", "--model", model, "--tagged", stdin=lines)
    assert tags_of(result.stdout) == [("DT", "NN", "VBD", "."), ("PRP", "VBZ", "NN", ".")]
    assert run("parse", "--model", model, "--tokenized", "--tagged", stdin=lines).stdout == result.stdout


@pytest.mark.parametrize("n_process", [1, 2])
def test_words_without_a_tag_have_the_taggers(run, model, n_process):
    plain = run("parse", "--model", model, "--tokenized", stdin="The rain stopped .\n").stdout
    ((first, second, *rest),) = tags_of(plain)
    other = "NNP" if second != "NNP" else "NN"
    lines = f"The rain_{other} stopped .\nThe rain stopped .\n"
    result = run("parse", "--model", model, "--tagged", "--n-process", n_process, stdin=lines)
    assert tags_of(result.stdout) == [(first, other, *rest), (first, second, *rest)]
    assert result.stdout.splitlines()[1] + "\n" == plain


def test_json_and_nbest_lists(run, model):
    arguments = ["parse", "--model", model, "--tagged", "--nbest", 3]
    line = "The_DT man_NN saw_NN the boy_NN ._.\n"
    (row,) = [json.loads(text) for text in run(*arguments, "--format", "json", stdin=line).stdout.splitlines()]
    assert [token["tag"] for token in row["tokens"]][2] == "NN"
    for parse in row["nbest"]:
        (tree,) = parse_bracketed(parse["tree"])
        assert tree.tags[2] == "NN"
    lines = run(*arguments, stdin=line).stdout.splitlines()
    assert all(re.match(r"# sent 1 parse \d score", heading) for heading in lines[::2])


def test_penn_spelling(run, model):
    line = "``_`` It_PRP -LRB-_-LRB- rained_VBD -RRB-_-RRB- ''_''\n"
    result = run("parse", "--model", model, "--tagged", "--ptb", stdin=line)
    (tree,) = parse_bracketed(result.stdout)
    assert tree.words == ('"', "It", "(", "rained", ")", '"')
    assert re.findall(r" ([^ ()]+)\)", result.stdout)[0] == "``"


def test_unknown_tags_are_named_with_their_place(run, model, write):
    path = write("in.txt", "The_DT rain_NN\n\nIt_PRP rained_VDB\n")
    result = run("parse", "--model", model, "--tagged", "--input", path)
    assert result.exit_code == 1
    assert f"{path}:3: the word 'rained' has the tag 'VDB', which the model does not know" in result.stderr
    assert "VBD" in result.stderr
    assert len(tags_of(result.stdout)) == 1  # what came before is parsed
    result = run("parse", "--model", model, "--tagged", stdin="snake_case\n")
    assert "the text:1: the word 'snake' has the tag 'case'" in result.stderr
    assert "write an underscore as '\\_'" in result.stderr


def test_a_tag_needs_a_word(run, model):
    result = run("parse", "--model", model, "--tagged", stdin="It_PRP\n_VBD\n")
    assert result.exit_code == 1
    assert "the text:2: the word before the tag is missing in '_VBD'" in result.stderr


def test_the_pipeline_is_left_as_it_was(model):
    from spacy_incparse.cli.options import open_pipeline
    from spacy_incparse.pipeline.loading import given

    nlp, parser = open_pipeline(str(model))
    before, names = parser.tags, list(nlp.pipe_names)
    with given(nlp, {"token.tag"}, "doc"):
        assert (parser.tags, "incparse_tagger" in nlp.pipe_names) == ("doc", False)
    assert (parser.tags, nlp.pipe_names) == (before, names)
