import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.linear.words import Clusters, read_clusters
from spacy_incparse.tagging import Tagger, jackknife_tags, tagger
from spacy_incparse.tagging.tagger import check_settings
from spacy_incparse.tagging.words import (
    CLUSTER_FIELDS,
    CLUSTER_TEMPLATES,
    FIELDS,
    TEMPLATES,
    TagDictionary,
    word_fields,
)
from tests.reference.tagger import SlowTagger
from tests.tagging.corpora import any_text, random_corpus, written_corpus


@pytest.fixture(scope="module")
def trained():
    return Tagger.train(*written_corpus(), n_epochs=10)


def test_what_was_learnt(trained):
    sentences, tags = written_corpus()
    assert trained.tag_batch(sentences) == [trained.tag(words) for words in sentences] == tags
    assert trained.labels == tuple(sorted({tag for row in tags for tag in row}))
    assert trained.tag(["She", "saw", "the", "saw", "."])[1:4] == ["VBD", "DT", "NN"]  # by the context
    assert trained.tag(['"', "Dogs", "run", ",", '"', "she", "said", "."])[0::4] == ["``", "''"]  # by their order


@pytest.mark.parametrize(
    "options",
    [
        {"beam_size": 1, "margin": 0, "clusters": True},
        {"beam_size": 4, "margin": 20, "clusters": True},
        {"beam_size": 3, "margin": 5, "only_min_count": 2, "only_min_share": 0.6, "class_min_count": 2},
        {"beam_size": 30, "margin": 1},
        {"beam_size": 4, "margin": 7, "separators": "_|"},
        {"beam_size": 2, "margin": 0, "templates": ("tag[-2]", "tag[-2] word[2]", "word[0]", "lower[-1] shape[1]")},
    ],
)
def test_the_slow_twin_learns_and_tags_the_same(options):
    seed = options["margin"]
    labels = ("A_x", "A|y", "B_x_y", "C", "_") if "separators" in options else ("A", "B", "C", "D")
    corpus, other = random_corpus(14, seed, labels=labels), random_corpus(10, seed + 100)[0]
    if "clusters" in options:
        known = sorted({word for words in corpus[0] + other for word in words})[::2]
        paths = [(word, f"{number * 7919 % 60:06b}" * 2) for number, word in enumerate(known)]
        options = options | {"clusters": Clusters.from_paths(paths)}
    fast = Tagger.train(*corpus, n_epochs=3, seed=seed, **options)
    slow = SlowTagger(*corpus, n_epochs=3, seed=seed, **options)
    cells = zip(fast.weights.tags.tolist(), fast.weights.values.tolist(), strict=True)
    names = [*fast.labels, *sorted({("part", part) for part in slow.parts})]
    assert sorted((str(names[tag]), value) for tag, value in cells) == sorted(
        (str(tag), value) for (_, tag), value in slow.weights.items()
    )
    for words in corpus[0] + other:
        assert fast.tag(words) == slow.tag(words)
        assert fast.k_best(words, 3) == slow.k_best(words, 3)


def test_a_frequent_unambiguous_word_gets_its_tag_unscored():
    sentences = [["so", "it", "goes"]] * 30 + [["it", "it", "it"]]
    tags = [["RB", "PRP", "VBZ"]] * 30 + [["VBZ", "VBZ", "VBZ"]]
    free = Tagger.train(sentences, tags, only_min_count=1000)
    bound = Tagger.train(sentences, tags, only_min_count=20, only_min_share=0.9)
    assert bound.settings.dictionary.only_tags == {"it": "PRP", "so": "RB", "goes": "VBZ"}
    assert free.tag(["it", "it", "it"]) == ["VBZ"] * 3
    assert bound.tag(["it", "it", "it"]) == ["PRP"] * 3
    assert [row[0][0] for row in bound.k_best(["it", "it", "it"], 2)] == ["PRP"] * 3


def test_as_many_tags_as_there_are(trained):
    assert trained.tag([]) == trained.tag_batch([]) == trained.k_best([], 3) == []
    assert trained.tag_batch([[], ["run"], ()])[::2] == [[], []]
    assert [len(row) for row in trained.k_best(["run", "."], 1000)] == [len(trained.labels)] * 2
    single = Tagger.train([["a", "b"], []], [["X", "X"], []])
    assert single.tag(["b", "c", "a"]) == ["X"] * 3
    assert single.k_best(["b"], 5)[0][0][0] == "X"


@settings(max_examples=200)
@given(st.lists(any_text, max_size=8))
def test_any_text_is_tagged(trained, words):
    tags = trained.tag(words)
    assert len(tags) == len(words)
    assert set(tags) <= set(trained.labels)
    assert len(trained.k_best(words, 2)) == len(words)


@settings(max_examples=30)
@given(st.lists(st.lists(any_text, min_size=1, max_size=4), min_size=1, max_size=4))
def test_any_text_can_be_learnt_and_stored(sentences):
    tags = [[word[:1] for word in words] for words in sentences]
    learnt = Tagger.train(sentences, tags, n_epochs=2, class_min_count=1)
    assert Tagger.from_bytes(learnt.to_bytes()).tag_batch(sentences) == learnt.tag_batch(sentences)


def test_long_words_and_long_sentences(trained):
    assert len(trained.tag(["x" * 1_000_000 + "ing", "of"])) == 2
    assert len(trained.tag(["word", "of", "mouth"] * 20_000)) == 60_000


def test_many_tags():
    words = [f"w{number}" for number in range(700)]
    tags = [f"T{number:03}" for number in range(700)]
    many = Tagger.train([[word] for word in words], [[tag] for tag in tags], n_epochs=10, templates=["word[0]"])
    assert Tagger.from_bytes(many.to_bytes()).tag_batch([[word] for word in words]) == [[tag] for tag in tags]


def test_a_full_cache_changes_nothing(monkeypatch):
    corpus = random_corpus(60, 3, n_words=400)
    roomy = Tagger.train(*corpus, n_epochs=2)
    monkeypatch.setattr(tagger, "CACHE_BYTES", 0)
    cramped = Tagger.from_bytes(roomy.to_bytes())
    texts = [[f"{word}{number}" for word in words] for number in range(20) for words in corpus[0]]
    texts += [[word for words in texts[:200] for word in words]]
    assert cramped.tag_batch(texts) == roomy.tag_batch(texts)
    assert cramped.tag_batch(corpus[0]) == roomy.tag_batch(corpus[0])


def test_threads_share_a_tagger(trained):
    batches = [[[f"{word}{number}" for word in words] for words in random_corpus(80, number)[0]] for number in range(8)]
    expected = [Tagger.from_bytes(trained.to_bytes()).tag_batch(batch) for batch in batches]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(trained.tag_batch, batches)) == expected
    finally:
        sys.setswitchinterval(interval)


def test_the_same_seed_gives_the_same_bytes_in_any_process():
    """Whatever order the interpreter gives to sets there."""
    program = (
        "from tests.tagging.corpora import written_corpus; from spacy_incparse.tagging import Tagger; import sys;"
        "sys.stdout.buffer.write(Tagger.train(*written_corpus(), n_epochs=3).to_bytes())"
    )
    made = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, ["", *sys.path]))},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert made == {Tagger.train(*written_corpus(), n_epochs=3).to_bytes()}
    assert made != {Tagger.train(*written_corpus(), n_epochs=3, seed=2).to_bytes()}


def test_progress_tells_the_pass_and_the_share_right():
    seen = []
    Tagger.train(*written_corpus(), n_epochs=8, progress=lambda epoch, share: seen.append((epoch, share)))
    assert [epoch for epoch, _ in seen] == list(range(1, 9))
    assert 0 <= seen[0][1] < seen[-1][1] <= 1


@pytest.mark.parametrize(
    ("sentences", "tags", "message"),
    [
        ([], [], "nothing to learn from"),
        ([[]], [[]], "nothing to learn from"),
        ([["a"], ["b", "c"]], [["X"], ["Y"]], "sentence 2 has 2 words but 1 tags"),
        ([["a"]], [], "1 sentences but tags for 0"),
    ],
)
def test_wrong_corpora_are_refused(sentences, tags, message):
    with pytest.raises(IncparseError, match=message):
        Tagger.train(sentences, tags)


@pytest.mark.parametrize("name", ["n_epochs", "seed", "beam_size", "margin", "class_min_count", "only_min_count"])
def test_numbers_are_whole_and_have_bounds(name):
    with pytest.raises(ConfigError, match=f"the tagger's {name} is 1.5: .* whole number"):
        check_settings({name: 1.5})
    with pytest.raises(ConfigError, match=f"the tagger's {name} is -1: .* at least "):
        check_settings({name: -1})
    with pytest.raises(ConfigError, match=f"the tagger's {name} is 10{'0' * 20}: .* at most "):
        check_settings({name: 10**21})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_epochs": 0}, "the tagger's n_epochs is 0: .* at least 1"),
        ({"beam_size": 0}, "the tagger's beam_size is 0: .* at least 1"),
        ({"beam_size": 10_001}, "the tagger's beam_size is 10001: .* at most 10000"),
        ({"only_min_share": -0.1}, "the tagger's only_min_share is -0.1: .* at least 0"),
        ({"only_min_share": 1.5}, "the tagger's only_min_share is 1.5: .* at most 1"),
        ({"only_min_share": "all"}, "the tagger's only_min_share is 'all': .* a number"),
        ({"templates": "word[0]"}, r"templates are 'word\[0\]': .* a list of templates, or None"),
        ({"templates": ["word[3]"]}, r"'word\[3\]' is not an atom"),
        ({"templates": ["tag[-3]"]}, r"'tag\[-3\]' is not an atom"),
        ({"templates": [""]}, "0 atoms"),
        ({"templates": ["word[0] " * 9]}, "9 atoms"),
        ({"clusters": []}, r"the tagger's clusters is \[\]: .* a language code, the path of a file"),
        ({"layers": 3}, "no setting 'layers': .*n_epochs, seed"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        check_settings(settings)
    if "layers" not in settings:
        with pytest.raises(ConfigError, match=message):
            Tagger.train([["a"]], [["X"]], **settings)


@pytest.mark.parametrize(("n_tags", "margin"), [(1, 50), (2, 10), (3, 1000), (9, 0)])
def test_a_lattice_has_the_tags_that_are_close_to_the_best(n_tags, margin):
    corpus, others = random_corpus(14, 3), random_corpus(10, 4)[0]
    made = Tagger.train(*corpus, n_epochs=3, only_min_count=10**6)
    for words, row in zip(others, made.candidate_tags(others, n_tags, margin), strict=True):
        for entry, ranking in zip(row, made.k_best(words, 100), strict=True):
            best = ranking[0][1]
            close = [(tag, best - score) for tag, score in ranking[:n_tags] if best - score <= margin]
            assert entry == (close[0][0] if len(close) == 1 else close)


def test_the_dictionary_leaves_one_tag_in_a_lattice():
    corpus = [["it", "runs"]] * 30, [["PRP", "VBZ"]] * 30
    made = Tagger.train(*corpus, n_epochs=2)
    assert made.candidate_tags([["it", "it"], []], 5, 10**6) == [["PRP", "PRP"], []]


def test_every_fold_is_tagged_by_a_tagger_of_the_others():
    sentences, tags = random_corpus(20, 7)
    tagged = jackknife_tags(sentences, tags, n_folds=3, n_epochs=2, seed=4)
    rest = Tagger.train(sentences[7:], tags[7:], n_epochs=2, seed=4)
    assert tagged[:7] == rest.tag_batch(sentences[:7])
    assert [len(row) for row in tagged] == [len(words) for words in sentences]


def test_the_same_input_gives_the_same_tags_and_progress_counts_folds():
    corpus, seen = random_corpus(12, 9), []
    first = jackknife_tags(*corpus, n_folds=4, n_epochs=1, progress=lambda done, n_folds: seen.append((done, n_folds)))
    assert first == jackknife_tags(*corpus, n_folds=4, n_epochs=1)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_more_folds_than_sentences():
    assert jackknife_tags([["a"], ["b"]], [["X"], ["Y"]], n_folds=10) == [["Y"], ["X"]]


@pytest.mark.parametrize(("sentences", "n_folds"), [([], 10), ([["a"]], 10), ([["a"], ["b"]], 1)])
def test_too_little_to_jackknife(sentences, n_folds):
    with pytest.raises(ConfigError, match="two folds"):
        jackknife_tags(sentences, [["X"] for _ in sentences], n_folds=n_folds)


FILE = Path(__file__).parents[1] / "data" / "clusters.txt"


@pytest.fixture(scope="module")
def clusters():
    return read_clusters(FILE)


@pytest.fixture(scope="module")
def clustered(clusters):
    return Tagger.train(*written_corpus(), clusters=clusters)


def fields_of(word, clusters):
    return dict(zip(FIELDS, word_fields(word, TagDictionary(), clusters), strict=True))


def test_fields_are_prefixes_of_the_path(clusters):
    fields = fields_of("Sweden", clusters)
    assert [fields[name] for name in CLUSTER_FIELDS] == ["1011", "10111", "10111", "10111"]
    long = Clusters.from_paths([("so", "001101011110")])
    assert [fields_of("so", long)[name] for name in CLUSTER_FIELDS] == [long.path("so")[:n] for n in (4, 6, 10, 12)]
    for fields in (fields_of("unheard-of", clusters), fields_of("Sweden", None)):
        assert [fields[name] for name in CLUSTER_FIELDS] == [""] * 4


def test_words_of_a_cluster_are_tagged_alike(clusters):
    sentences = [["He", "saw", "Oslo", "."], ["She", "saw", "the", "dog", "."], ["She", "won", "."]] * 3
    tags = [["P", "V", "N", "."], ["P", "V", "D", "C", "."], ["P", "V", "."]] * 3
    informed = Tagger.train(sentences, tags, clusters=clusters, templates=["cluster[0]"])
    assert informed.tag(["Sweden", "fed", "a", "cat", "."]) == ["N", "V", "D", "C", "."]


def test_templates_join_with_clusters_unless_they_are_given(clustered, clusters):
    assert clustered.settings.templates == TEMPLATES + CLUSTER_TEMPLATES
    assert Tagger.train([["a"]], [["X"]]).settings.templates == TEMPLATES
    assert Tagger.train([["a"]], [["X"]], clusters=clusters, templates=["word[0]"]).settings.templates == ("word[0]",)


def test_clusters_are_read_from_what_a_config_names(clustered, tmp_path):
    assert Tagger.train(*written_corpus(), clusters=str(FILE)).to_bytes() == clustered.to_bytes()
    with pytest.raises(ConfigError, match="the clusters cannot be read"):
        Tagger.train(*written_corpus(), clusters=str(tmp_path / "none.txt"))
