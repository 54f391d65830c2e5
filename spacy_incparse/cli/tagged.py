r"""Lines of tokens with tags, `word_TAG`, as many tools write them.

The last underscore parts word and tag. A word alone has no tag; one with an underscore in it is then written with a
backslash before each, `snake\_case`, and so is a backslash that stands before an underscore.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_incparse.cli.parsing import split_words
from spacy_incparse.errors import IncparseError
from spacy_incparse.tokens import penn_to_raw

_UNDERSCORE = re.compile(r"(\\*)_")


def tagged_docs(
    lines: Iterable[str], vocab: Vocab, tags: Sequence[str], place: str, *, ptb: bool = False
) -> Iterator[Doc]:
    """Make a Doc of one sentence of each line that has words, with token.tag_ where a tag is given.

    tags: those that the model knows. place: where the lines are from. Raises IncparseError for another tag, and for a
    tag without a word, with place, line and word.
    """
    known = frozenset(tags)
    for number, line in enumerate(lines, start=1):
        tokens = [split_tag(token) for token in split_words(line)]
        for word, tag in tokens:
            if not word:
                raise IncparseError(f"{place}:{number}: there is no word before the tag in '_{tag}': '\\_' is a word")
            if tag and tag not in known:
                raise IncparseError(f"{place}:{number}: {_unknown(word, tag, tags)}")
        if tokens:
            words = [penn_to_raw(word, tag or None) if ptb else word for word, tag in tokens]
            starts: list[bool | int | None] = [i == 0 for i in range(len(words))]
            yield Doc(vocab, words=words, tags=[tag for _, tag in tokens], sent_starts=starts)


def split_tag(token: str) -> tuple[str, str]:
    """Return the word and the tag of a token, which is "" where none is given."""
    if token == "_":
        return token, ""
    separators = [match.end() - 1 for match in _UNDERSCORE.finditer(token) if len(match[1]) % 2 == 0]
    if not separators:
        return _unescaped(token), ""
    last = separators[-1]
    return _unescaped(token[: last + 1])[:-1], token[last + 1 :]


def _unescaped(text: str) -> str:
    """Take one of each two backslashes before an underscore away, and a single one."""
    return _UNDERSCORE.sub(lambda match: "\\" * (len(match[1]) // 2) + "_", text)


def _unknown(word: str, tag: str, tags: Sequence[str]) -> str:
    near = get_close_matches(tag.upper(), tags, n=8, cutoff=0.5) or list(tags[:5])
    return (
        f"the word {word!r} has the tag {tag!r}, which the model does not know (it knows {', '.join(near)}, ...); "
        f"an underscore in a word without a tag is written '\\_'"
    )
