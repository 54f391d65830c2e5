import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse import Tree
from spacy_incparse.tokens import detokenize, escape_brackets, escape_label, penn_to_raw, raw_to_penn, spaces_after
from tests.strategies import TAGS, odd_words

ANY_TAGS = st.sampled_from((*TAGS, "-NONE-", "NN"))


@pytest.mark.parametrize(
    ("penn", "tag", "raw"),
    [
        ("-LRB-", "-LRB-", "("),
        ("pen-LRB-s-RRB-", "NNS", "pen(s)"),
        ("''", "''", '"'),
        ("''", "NN", '"'),
        ("`", "``", "'"),
        ("`", "SYM", "`"),
        ("'", "''", "'"),
        (r"3\/4", "CD", "3/4"),
        (r"\*", "SYM", "*"),
        (r"C:\temp", "NN", r"C:\temp"),
        ("--", ":", "--"),
        ("*T*-1", "-NONE-", "*T*-1"),
    ],
)
def test_treebank_spelling_becomes_raw_text(penn, tag, raw):
    assert penn_to_raw(penn, tag) == raw


@given(odd_words(), ANY_TAGS)
def test_bracket_safe_spelling_is_read_back(word, tag):
    written = escape_brackets(word)
    assert written
    assert not any(character in "()" or character.isspace() for character in written)
    assert penn_to_raw(written) == word
    assert penn_to_raw(written, tag) == word


@given(st.text(max_size=8).filter(lambda word: word and not any(c in "()\\-`'" or c.isspace() for c in word)))
def test_bracket_safe_spelling_changes_nothing_else(word):
    assert escape_brackets(word) == word


@given(st.lists(st.tuples(odd_words(), ANY_TAGS), max_size=8))
def test_penn_spelling_is_read_back(tagged):
    words, tags = [word for word, _ in tagged], [tag for _, tag in tagged]
    assert [penn_to_raw(word, tag) for word, tag in zip(raw_to_penn(words, tags), tags, strict=True)] == words
    assert [penn_to_raw(word) for word in raw_to_penn(words)] == words


def test_penn_spelling_of_brackets_slashes_and_stars():
    words = ["(", "a/b", "*", "[", "{", ")", "1-2", "—", "-LRB-", r"\/", ""]
    spelt = ["-LRB-", r"a\/b", r"\*", "-LSB-", "-LCB-", "-RRB-", "1-2", "—", r"-\LRB-", r"\\/", "-EMPTY-"]
    assert raw_to_penn(words) == spelt


def test_quotes_go_by_their_tags_else_by_position():
    words = ['"', "Oh", '"', "-", '"', "no", '"']
    assert raw_to_penn(words) == ["``", "Oh", "''", "-", "``", "no", "''"]
    tags = ["''", "UH", "``", ":", "NN", "UH", "''"]
    assert raw_to_penn(words, tags) == ["''", "Oh", "``", "-", "''", "no", "''"]
    assert raw_to_penn(["'", "Oh", "'"], ["``", "UH", "''"]) == ["`", "Oh", "'"]


def test_traces_are_spelt_as_they_are():
    assert raw_to_penn(["*T*-1", "*"], ["-NONE-", "-NONE-"]) == ["*T*-1", "*"]


def test_labels_keep_their_penn_spelling():
    assert [escape_label(label) for label in ("-LRB-", "NP", "$(", "")] == ["-LRB-", "NP", "$-LRB-", ""]


def test_only_what_would_end_a_label_is_escaped_in_it():
    """A label has no escapes when it is read: white space that does not end it is part of it."""
    assert escape_label("A B") == "A-U0020-B"
    for text in ("(NP (X\u00a0Y a))", "(NP (X\u2003Y a))"):
        assert Tree.from_string(text).to_string() == text


@pytest.mark.parametrize(
    ("words", "tags", "text"),
    [
        ("I do n't know .", None, "I don't know."),
        ("It costs $ 5 ( or 6 % ) .", None, "It costs $5 (or 6%)."),
        ('He said , " Go home ! "', None, 'He said, "Go home!"'),
        ('" Oh , " he said .', "`` UH , '' PRP VBD .", '"Oh," he said.'),
        ("' Oh ' , said the dogs ' owner .", "`` UH '' , VBD DT NNS POS NN .", "'Oh', said the dogs' owner."),
        ("a well - known tune", "DT RB HYPH VBN NN", "a well-known tune"),
        ("We can not wait ; I 'm gon na run ...", None, "We cannot wait; I'm gonna run..."),
        ("and / or -- perhaps -- none", None, "and/or -- perhaps -- none"),
        ("“ Rain ” , he ’s sure", None, "“Rain”, he’s sure"),
        ("Rain", None, "Rain"),
    ],
)
def test_natural_spacing(words, tags, text):
    words = words.split()
    assert detokenize(words, tags and tags.split())[0] == text


@given(st.lists(odd_words(), max_size=8))
def test_offsets_find_the_words_in_the_text(words):
    text, offsets = detokenize(words)
    assert [text[start : start + len(word)] for start, word in zip(offsets, words, strict=True)] == words
    assert len(spaces_after(words)) == len(words)
