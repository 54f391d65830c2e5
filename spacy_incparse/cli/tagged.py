r"""Read lines of tokens with tags, `word_TAG`, a format that many tools write.

The last underscore separates word and tag. A word alone has no tag; underscores in it, and backslashes before an
underscore, are then escaped with a backslash, as in `snake\_case`.
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
    """Yield a Doc with one sentence for each line that has words, with token.tag_ set if a tag is given.

    tags: the tags that the model knows. place: the source of the lines. Raises IncparseError for an unknown tag or a
    tag without a word, with place, line and word.
    """
    known = frozenset(tags)
    for number, line in enumerate(lines, start=1):
        tokens = [split_tag(token) for token in split_words(line)]
        for word, tag in tokens:
            if not word:
                raise IncparseError(
                    f"{place}:{number}: the word before the tag is missing in '_{tag}': write '\\_' for an underscore"
                )
            if tag and tag not in known:
                raise IncparseError(f"{place}:{number}: {_unknown(word, tag, tags)}")
        if tokens:
            words = [penn_to_raw(word, tag or None) if ptb else word for word, tag in tokens]
            starts: list[bool | int | None] = [i == 0 for i in range(len(words))]
            yield Doc(vocab, words=words, tags=[tag for _, tag in tokens], sent_starts=starts)


def split_tag(token: str) -> tuple[str, str]:
    """Return the word and the tag of a token; the tag is "" if none is given."""
    if token == "_":
        return token, ""
    separators = [match.end() - 1 for match in _UNDERSCORE.finditer(token) if len(match[1]) % 2 == 0]
    if not separators:
        return _unescaped(token), ""
    last = separators[-1]
    return _unescaped(token[: last + 1])[:-1], token[last + 1 :]


def _unescaped(text: str) -> str:
    """Remove every second backslash before an underscore, and a single one."""
    return _UNDERSCORE.sub(lambda match: "\\" * (len(match[1]) // 2) + "_", text)


def _unknown(word: str, tag: str, tags: Sequence[str]) -> str:
    near = get_close_matches(tag.upper(), tags, n=8, cutoff=0.5) or list(tags[:5])
    return (
        f"the word {word!r} has the tag {tag!r}, which the model does not know (it knows {', '.join(near)}, ...); "
        f"in a word without a tag, write an underscore as '\\_'"
    )
