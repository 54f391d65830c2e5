import pytest
import spacy
from spacy.cli.train import train as spacy_train
from spacy.tokens import Doc
from spacy.training import Example

from spacy_incparse.errors import IncparseError
from spacy_incparse.pipeline.registered import TreebankReader
from spacy_incparse.training.settings import head_rules
from spacy_incparse.trees.heads import HeadRules
from tests.small_pipeline import ASSETS, SMALL, train, untrained

TEXT = "The rain stopped before noon. Who left the gate open? Our neighbours grow beans and tomatoes."


def weights(nlp):
    return nlp.get_pipe("incparse").model.to_bytes()


def test_losses_fall_and_scores_rise(trained):
    nlp = untrained()
    losses = [loss["incparse"] for loss in train(nlp, 3)]
    assert losses[2] < losses[0] <= 234
    reader = TreebankReader(ASSETS / "sample-train.mrg", limit=100)
    assert trained.evaluate(list(reader(trained)))["const_f"] > 0.7


def test_seeds_decide_on_the_order_and_the_examples_do_not():
    models = []
    for seed, step in ((1, 1), (1, -1), (2, 1)):
        nlp = untrained(training=SMALL | {"seed": seed})
        reader = TreebankReader(ASSETS / "sample-train.mrg", limit=40)
        nlp.initialize(lambda nlp=nlp, reader=reader: reader(nlp))
        nlp.update(list(reader(nlp))[::step])
        models.append(weights(nlp))
    assert models[0] == models[1] != models[2]


def test_saving_does_not_disturb_training(tmp_path):
    undisturbed, disturbed = untrained(), untrained()
    train(undisturbed, 2, limit=40)
    train(disturbed, 1, limit=40)
    disturbed.to_disk(tmp_path)
    disturbed(TEXT)
    disturbed.update(list(TreebankReader(ASSETS / "sample-train.mrg", limit=40)(disturbed)))
    assert weights(disturbed) == weights(undisturbed)


def test_jackknifed_tags_are_what_training_sees():
    jackknifed, gold = untrained(), untrained(training=SMALL | {"n_folds": 0})
    for nlp in (jackknifed, gold):
        train(nlp, 0, limit=60)
    trees = [example.reference._.trees[0] for example in TreebankReader(ASSETS / "sample-train.mrg", limit=60)(gold)]
    seen = gold.get_pipe("incparse")._run.tags
    assert all(tuple(seen[tree.words]) == tree.tags for tree in trees)
    seen = jackknifed.get_pipe("incparse")._run.tags
    n_wrong = sum(a != b for tree in trees for a, b in zip(seen[tree.words], tree.tags, strict=True))
    assert n_wrong > 0


def test_sentences_come_with_gold_tags_every_other_time():
    nlp = untrained(training=SMALL | {"gold_tag_interval": 2})
    train(nlp, 2, limit=60)
    run = nlp.get_pipe("incparse")._run
    trees = [example.reference._.trees[0] for example in TreebankReader(ASSETS / "sample-train.mrg", limit=60)(nlp)]
    met = {(words, tags) for words, tags, _ in run.encoded}
    assert met == {(tree.words, tags) for tree in trees for tags in (tree.tags, tuple(run.tags[tree.words]))}


def test_tags_of_annotating_components_are_used_under_doc():
    nlp = untrained(tags="doc")
    train(nlp, 0, limit=10)
    reader = TreebankReader(ASSETS / "sample-train.mrg", limit=10)
    examples = list(reader(nlp))
    for example in examples:
        for token in example.predicted:
            token.tag_ = "NN"
    run = nlp.get_pipe("incparse")._run
    assert {tag for _, tags, _ in run._sentences(examples, True) for tag in tags} == {"NN"}
    assert {tag for _, tags, _ in run._sentences(examples, False) for tag in tags} != {"NN"}


def test_update_before_initialize_is_told():
    nlp = untrained()
    doc = nlp.make_doc("An owl slept.")
    with pytest.raises(IncparseError, match=r"no weights to train: call nlp\.initialize"):
        nlp.get_pipe("incparse").update([Example(doc, doc.copy())])


def test_initialize_without_gold_is_told():
    nlp = untrained()
    with pytest.raises(IncparseError, match="found no gold trees"):
        nlp.initialize()


def test_weights_survive_an_initialize_without_gold(trained, tmp_path):
    trained.to_disk(tmp_path)
    nlp = untrained(model=str(tmp_path))
    nlp.initialize()
    assert weights(nlp) == weights(trained)


def test_gold_of_another_tokenisation_is_refused():
    nlp = untrained()
    reader = TreebankReader(ASSETS / "sample-train.mrg", limit=10)
    examples = [
        Example(Doc(nlp.vocab, words=["".join(token.text for token in example.reference)]), example.reference)
        for example in reader(nlp)
    ]
    with pytest.raises(IncparseError, match="10 of 10 gold trees do not fit"):
        nlp.initialize(lambda: examples)


def test_training_on_the_tokenizers_own_tokens():
    nlp = untrained()
    reader = TreebankReader(ASSETS / "sample-train.mrg", natural_spacing=True)
    nlp.initialize(lambda: reader(nlp))
    examples = list(reader(nlp))
    assert any(len(example.predicted) != len(example.reference) for example in examples)
    losses = [nlp.update(examples, losses={})["incparse"] for _ in range(3)]
    assert losses[2] < losses[0]


def test_heads_by_language_name_or_table():
    assert head_rules(None, "en") == HeadRules.from_name("en") == head_rules("en", "de")
    assert head_rules(None, "de") == HeadRules.from_name("any")
    assert head_rules(HeadRules.from_name("en").to_dict(), "xx") == HeadRules.from_name("en")


NEW_TREES = "(S (NP (NN rain)) (ZP (VBZ falls) (. .)))\n(ZP (VBZ Days) (NP (NN pass)))\n"


def _new_examples(nlp, tmp_path):
    (tmp_path / "new.mrg").write_text(NEW_TREES, encoding="utf8")
    return list(TreebankReader(tmp_path / "new.mrg")(nlp))


def test_a_loaded_pipeline_is_fine_tuned_by_update(trained, tmp_path):
    trained.to_disk(tmp_path / "saved")
    models = []
    for resumed in (True, False):
        nlp = spacy.load(tmp_path / "saved")
        if resumed:
            nlp.resume_training()
        examples = _new_examples(nlp, tmp_path)
        losses = [nlp.update(batch, losses={})["incparse"] for _ in range(8) for batch in (examples[:1], examples[1:])]
        assert losses[-1] <= losses[0]
        assert "ZP" in nlp.get_pipe("incparse").labels
        assert set(trained.get_pipe("incparse").labels) <= set(nlp.get_pipe("incparse").labels)
        models.append(weights(nlp))
    assert models[0] == models[1] != weights(trained)
    restored = untrained()
    restored.get_pipe("incparse").model.from_bytes(models[0])
    assert weights(restored) == models[0]


def test_an_update_continues_from_the_weights_that_were_loaded_last(trained, tmp_path):
    nlp, saved = untrained(), trained.get_pipe("incparse").to_bytes()
    train(nlp, 1, limit=40)
    component = nlp.get_pipe("incparse").from_bytes(saved)
    assert weights(nlp) == weights(trained)
    losses = nlp.update(_new_examples(nlp, tmp_path))
    assert losses["incparse"] > 0
    assert "ZP" in component.labels
    assert weights(nlp) != weights(trained)


def test_initialize_fine_tunes_on_request(trained, tmp_path):
    trained.to_disk(tmp_path / "saved")
    nlp = spacy.load(tmp_path / "saved")
    examples = _new_examples(nlp, tmp_path)
    nlp.get_pipe("incparse").initialize(lambda: examples, nlp=nlp, fine_tune=True)
    assert {"ZP", *trained.get_pipe("incparse").labels} <= set(nlp.get_pipe("incparse").labels)


@pytest.mark.parametrize("name", ["en_accurate", "en_generative"])
def test_kinds_that_cannot_be_fine_tuned_say_what_to_do(name, tmp_path):
    nlp = untrained(model=name, training={}, search={})
    with pytest.raises(IncparseError, match="cannot be fine-tuned: train a new one"):
        nlp.update(_new_examples(nlp, tmp_path))


def test_spacy_train_fine_tunes_a_sourced_component(trained, tmp_path):
    trained.to_disk(tmp_path / "base")
    config = (ASSETS.parent / "configs" / "rich.cfg").read_text()
    start, end = config.index("[components.incparse]"), config.index("[corpora]")
    own = f'[components.incparse]\nsource = "{(tmp_path / "base").as_posix()}"\n\n'
    path = tmp_path / "config.cfg"
    path.write_text(config[:start] + own + config[end:])
    files = {"paths.train": str(ASSETS / "sample-train.mrg"), "paths.dev": str(ASSETS / "sample-dev.mrg")}
    spacy_train(path, tmp_path / "out", overrides={**files, "training.max_epochs": 1, "corpora.train.limit": 20})
    tuned = spacy.load(tmp_path / "out" / "model-last").get_pipe("incparse").model
    assert tuned.tagger.to_bytes() == trained.get_pipe("incparse").model.tagger.to_bytes()
    assert tuned.parser.to_bytes() != trained.get_pipe("incparse").model.parser.to_bytes()
