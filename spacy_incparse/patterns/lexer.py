"""The lexer: splits a pattern into tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass

from spacy_incparse.errors import PatternError
from spacy_incparse.patterns.syntax import CHAINS, CHILDREN, LEAF_BELOW, SAME_OR_CHILD, SYMBOLS

LABEL, QUOTED, REGEX, ANY = "label", "quoted", "regex", "any"
RELATION, NTH, CHAIN, END = "relation", "nth", "chain", "end"
ATOMS = (LABEL, QUOTED, REGEX, ANY)


@dataclass(frozen=True)
class Token:
    """A piece of a pattern; `kind` is one of the above, or the character itself for brackets and operators."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def column(self) -> int:
        """The column where the token begins, counted from 1."""
        return self.start + 1

    def __str__(self) -> str:
        return "the end" if self.kind == END else repr(self.text)


def tokenize(pattern: str) -> list[Token]:
    """Return the tokens of a pattern and one for its end. Raises PatternError for anything else."""
    tokens: list[Token] = []
    position = 0
    while position < len(pattern):
        match = _TOKEN.match(pattern, position)
        if match is None:
            raise PatternError(pattern, position + 1, _no_token(pattern[position]))
        kind = match.lastgroup
        if kind is not None:
            text = match.group()
            tokens.append(Token(text if kind == "operator" else kind, text, *match.span()))
        position = match.end()
    return [*tokens, Token(END, "", len(pattern), len(pattern))]


def _any_of(symbols: list[str]) -> str:
    """Return a regular expression for the longest matching symbol."""
    return "|".join(re.escape(symbol) for symbol in sorted(symbols, key=len, reverse=True))


_RELATIONS = [*SYMBOLS, SAME_OR_CHILD, LEAF_BELOW, CHILDREN]
_RELATIONS += [symbol.replace("$", "%") for symbol in _RELATIONS if "$" in symbol]
_SPECIAL = r"\s()\[\]{}/|@!#%&=?><~.,$:;" + '"'
# A label such as PRP$ needs no quotes unless a node follows: in `NP$ VP`, `$` is the relation.
_DOLLAR = r"\$(?=[=|)\]&;}]|\s*$|\s+(?:[)\]|&;}<>.,$:?%\[]|==|!\s*[<>.,$:%\[(!?]))"
_TOKEN = re.compile(
    rf"\s+"
    rf"|(?P<{CHAIN}>{_any_of(list(CHAINS))})"
    rf"|(?P<{NTH}>[<>]-?\d+)"
    rf"|(?P<{RELATION}>{_any_of(_RELATIONS)})"
    rf"|(?P<{REGEX}>(?:i@)?/(?:\\.|[^/\\])*/)"
    rf'|(?P<{QUOTED}>(?:i@)?"(?:\\.|[^"\\])*")'
    rf"|(?P<{ANY}>__)"
    rf"|(?P<{LABEL}>(?:i@)?[^{_SPECIAL}]+(?:{_DOLLAR})?)"
    rf"|(?P<operator>[()\[\]{{}}|@!#&=?~;])",
    re.DOTALL,
)


def _no_token(character: str) -> str:
    if character == "/":
        return "the regular expression that begins here has no end; expected another '/'"
    if character == '"':
        return "the quoted label that begins here has no end; expected another '\"'"
    return f"unexpected {character!r}"
