"""The Icelandic package under models/: words get the treebank's classes, cases and forms, and sentences trees."""

from pathlib import Path

import spacy

(FOLDER,) = (Path(__file__).parents[2] / "models").glob("is_greynir-*/is_greynir/is_greynir-*")


def test_sentences_get_tags_and_trees():
    doc = spacy.load(FOLDER)("Hún las bókina í gær. Bróðir hennar sefur ekki.")
    first, second = doc._.trees
    assert first.label == second.label == "TOP"
    tags = {word.text: word.tag_ for word in doc}
    assert [tags[word] for word in ("Hún", "las", "bókina", "Bróðir", "sefur")] == [
        "pfn_nf",
        "so_fh",
        "no_þf",
        "no_nf",
        "so_fh",
    ]
    assert ["bókina"] in [list(phrase.words) for phrase in first.phrases("NP")]
    assert ["Bróðir", "hennar"] in [list(phrase.words) for phrase in second.phrases("NP")]
