"""The component `incparse_senter`: what it learns, what it leaves alone, what it writes."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

import spacy_incparse
from spacy_incparse.errors import IncparseError

LINES = [
    f"{subject} {rest}"
    for rest in (
        "left at noon.",
        "saw Dr. Moss there.",
        "fell down!",
        "was late?",
        "met Dr. Lund.",
        "had seen nothing.",
    )
    for subject in ("The boats", "Dr. Moss", "Nobody", "Was it", "She", "Dr. Lund", "Our neighbour")
]
TEXT = "The boats came in. Dr. Moss saw them. Was it noon?\n\nNobody told us"


def starts(doc):
    return [sentence.start for sentence in doc.sents]


def splitter(lines=LINES, **options):
    nlp = spacy.blank("en")
    senter = nlp.add_pipe("incparse_senter", name="senter")
    senter.learn(nlp.tokenizer, lines, **options)
    return nlp, senter


@pytest.fixture(scope="module")
def learnt():
    return splitter()


def test_it_learns_from_lines(learnt, tmp_path):
    nlp, senter = learnt
    doc = nlp(TEXT)
    assert [sentence.text.strip() for sentence in doc.sents] == [
        "The boats came in.", "Dr. Moss saw them.", "Was it noon?", "Nobody told us",
    ]  # fmt: skip
    assert doc[next(i for i, token in enumerate(doc) if token.is_space)].is_sent_start is False
    nlp.to_disk(tmp_path)
    assert starts(spacy.load(tmp_path)(TEXT)) == starts(doc)
    assert splitter()[1].model.to_bytes() == senter.model.to_bytes()
    assert splitter(seed=1)[1].model.to_bytes() != senter.model.to_bytes()


def test_it_goes_on_from_what_it_knows():
    nlp = spacy_incparse.load("en", exclude=["incparse"])
    text = "We bought 5 Ctr. Coal and 2 Ctr. Sand. Call me."
    assert len(list(nlp(text).sents)) == 4
    lines = ["Bring 3 Ctr. Coal now.", "He sold 7 Ctr. Sand to us.", "It cost 4 Ctr. Wood.", "Two Ctr. Lime are left."]
    nlp.get_pipe("senter").learn(nlp.tokenizer, lines, n_passes=30)
    assert starts(nlp(text)) == [0, 12]
    assert len(list(nlp(TEXT).sents)) == 4


def test_gold_docs_are_learnt_from_as_text():
    """Words without spaces, a sentence in each Doc, as treebanks give them, or several with spaces."""
    nlp = spacy.blank("en")

    def sentence(doc, spaces=None):
        return Doc(nlp.vocab, [token.text for token in doc], spaces, sent_starts=[not token.i for token in doc])

    docs = [nlp.make_doc(line) for line in LINES]
    spaced = [sentence(doc, [bool(token.whitespace_) for token in doc]) for doc in docs]
    for gold in ([sentence(doc) for doc in docs], [Doc.from_docs(spaced)]):
        new = spacy.blank("en")
        new.add_pipe("incparse_senter", name="senter")
        new.initialize(lambda gold=gold, new=new: [Example(new.make_doc(doc.text), doc) for doc in gold])
        assert len(list(new(TEXT).sents)) == 4


def test_it_leaves_alone_what_is_set(learnt):
    nlp, _ = learnt
    doc = nlp.make_doc(TEXT)
    doc[5].is_sent_start = False
    doc[3].is_sent_start = True
    assert starts(nlp(doc)) == [0, 3, *starts(nlp(TEXT))[2:]]


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "word", "\n\n Two\n\n\n", ".", "\ufeff. \u2028 \x0b", "( \" ] ' “" * 40]
)
def test_odd_texts(learnt, text):
    nlp, _ = learnt
    doc = nlp(text)
    assert "".join(sentence.text_with_ws for sentence in doc.sents) == text
    for token in doc:
        assert not (token.is_space and token.is_sent_start and token.i)


def test_sentences_do_not_depend_on_batches(learnt):
    nlp, _ = learnt
    texts = [TEXT, "", "One two. Three", "\n\n", TEXT * 60, " "]
    together = [starts(doc) if len(doc) else [] for doc in nlp.pipe(texts * 2)]
    assert together == [starts(doc) if len(doc) else [] for doc in map(nlp, texts * 2)]


def test_without_spaces_words_are_read_as_if_there_were_some(learnt):
    nlp, _ = learnt
    words = [token.text for token in nlp.make_doc("The boats came in. Dr. Moss saw them.")]
    assert starts(nlp(Doc(nlp.vocab, words=words))) == [0, 5]


def test_nothing_learnt():
    nlp = spacy.blank("en")
    nlp.add_pipe("incparse_senter", name="senter")
    with pytest.raises(IncparseError, match=r"'senter'.*learn"):
        nlp("A text.")
    with pytest.raises(IncparseError, match=r"'senter'.*no sentences"):
        nlp.get_pipe("senter").learn(nlp.tokenizer, ["", " "])


def test_others_in_front_of_the_parser_go_on_working():
    for factory, options, n in (("sentencizer", {}, 3), ("senter", {"source": spacy_incparse.load("en")}, 2)):
        nlp = spacy.blank("en")
        nlp.add_pipe(factory, **options)
        nlp.add_pipe("incparse", config={"model": "en"})
        assert len(nlp("It is No. 1 here. He left")._.trees) == n
