"""The parser of patterns: recursive descent, one method per grammar rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches

from spacy_incparse.errors import PatternError
from spacy_incparse.patterns.bounded_regex import UnboundedError, bounded_regex
from spacy_incparse.patterns.syntax import (
    ANYTHING,
    TOKEN_ATTRIBUTES,
    And,
    Atom,
    Constraint,
    Description,
    Maybe,
    Node,
    Not,
    Or,
    Reference,
    Relation,
    Step,
)  # fmt: skip

MAX_DEPTH = 50  # of nested brackets, since parsing recurses

# Symbol of a relation -> step and its number. `$` may also be written `%`.
SYMBOLS: dict[str, tuple[Step, int]] = {
    "<": (Step.CHILD, 0), ">": (Step.PARENT, 0),
    "<,": (Step.NTH_CHILD, 1), ">,": (Step.NTH_CHILD_OF, 1),
    "<-": (Step.NTH_CHILD, -1), ">-": (Step.NTH_CHILD_OF, -1),
    "<`": (Step.NTH_CHILD, -1), ">`": (Step.NTH_CHILD_OF, -1),
    "<:": (Step.ONLY_CHILD, 0), ">:": (Step.ONLY_CHILD_OF, 0),
    "<#": (Step.HEAD, 0), ">#": (Step.HEAD_OF, 0),
    "$+": (Step.NEXT_SISTER, 0), "$-": (Step.PREVIOUS_SISTER, 0),
    "$.": (Step.NEXT_SISTER, 0), "$,": (Step.PREVIOUS_SISTER, 0),
    ".": (Step.NEXT, 0), ",": (Step.PREVIOUS, 0),
}  # fmt: skip
# The same steps, repeated: `<<,` and `$++`.
REPEATED = {symbol + symbol[-1] if symbol[0] == "$" else symbol[0] + symbol: step for symbol, step in SYMBOLS.items()}
SYMBOLS |= {"$": (Step.SISTER, 0), "==": (Step.SELF, 0), ":": (Step.ANY, 0)}
# Relations with a description of the nodes in between, as in `VP <+(VP) NP`.
CHAINS: dict[str, Step] = {"<+": Step.CHILD, ">+": Step.PARENT, ".+": Step.NEXT, ",+": Step.PREVIOUS}
SAME_OR_CHILD, LEAF_BELOW, CHILDREN = "<=", "<<<", "<..."

LABEL, QUOTED, REGEX, ANY = ATOMS = "label", "quoted", "regex", "any"
RELATION, NTH, CHAIN = _RELATIONS = "relation", "nth", "chain"
END = "end"


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
            what = _NO_END.get(pattern[position], f"unexpected {pattern[position]!r}")
            raise PatternError(pattern, position + 1, what)
        kind = match.lastgroup
        if kind is not None:
            text = match.group()
            tokens.append(Token(text if kind == "operator" else kind, text, *match.span()))
        position = match.end()
    return [*tokens, Token(END, "", len(pattern), len(pattern))]


def _any_of(symbols: list[str]) -> str:
    """Return a regular expression for the longest matching symbol."""
    return "|".join(re.escape(symbol) for symbol in sorted(symbols, key=len, reverse=True))


_symbols = [*SYMBOLS, *REPEATED, SAME_OR_CHILD, LEAF_BELOW, CHILDREN]
_symbols += [symbol.replace("$", "%") for symbol in _symbols if "$" in symbol]
_SPECIAL = r"\s()\[\]{}/|@!#%&=?><~.,$:;" + '"'
# A label such as PRP$ needs no quotes unless a node follows: in `NP$ VP`, `$` is the relation.
_DOLLAR = r"\$(?=[=|)\]&;}]|\s*$|\s+(?:[)\]|&;}<>.,$:?%\[]|==|!\s*[<>.,$:%\[(!?]))"
_TOKEN = re.compile(
    rf"\s+"
    rf"|(?P<{CHAIN}>{_any_of(list(CHAINS))})"
    rf"|(?P<{NTH}>[<>]-?\d+)"
    rf"|(?P<{RELATION}>{_any_of(_symbols)})"
    rf"|(?P<{REGEX}>(?:i@)?/(?:\\.|[^/\\])*/)"
    rf'|(?P<{QUOTED}>(?:i@)?"(?:\\.|[^"\\])*")'
    rf"|(?P<{ANY}>__)"
    rf"|(?P<{LABEL}>(?:i@)?[^{_SPECIAL}]+(?:{_DOLLAR})?)"
    rf"|(?P<operator>[()\[\]{{}}|@!#&=?~;])",
    re.DOTALL,
)


_NO_END = {
    "/": "the regular expression that begins here has no end; expected another '/'",
    '"': "the quoted label that begins here has no end; expected another '\"'",
}


class _Names:
    """The names in scope while a pattern is read from left to right.

    Alternatives do not see each other's names, so several of them may declare the same name; the rest of the pattern
    sees them all.
    """

    def __init__(self, pattern: str):
        self._pattern = pattern
        self._known: set[str] = set()
        self._groups: list[tuple[set[str], set[str]]] = []  # before the alternatives, and in those read so far
        self._n_negations = 0

    def declare(self, name: Token) -> None:
        """Give a name to a node."""
        if self._n_negations:
            raise self._error(name, f"the name {name} is under a '!': a node that must not exist cannot be found")
        if name.text in self._known:
            raise self._error(name, f"the name {name} is given twice; ={name.text} alone refers to the same node")
        self._known.add(name.text)

    def refer(self, name: Token) -> None:
        """Refer to the node of a name."""
        if name.text not in self._known:
            raise self._error(name, f"no node before has the name {name}")

    @contextmanager
    def negation(self) -> Iterator[None]:
        """Forbid names within this context."""
        self._n_negations += 1
        yield
        self._n_negations -= 1

    @contextmanager
    def alternatives(self) -> Iterator[None]:
        """Enclose alternatives, each of which begins with `alternative`."""
        self._groups.append((set(self._known), set()))
        yield
        self._known |= self._groups.pop()[1]

    def alternative(self) -> None:
        """Begin an alternative."""
        before, read = self._groups[-1]
        read |= self._known
        self._known = set(before)

    def _error(self, name: Token, what: str) -> PatternError:
        return PatternError(self._pattern, name.column, what)


def parse_pattern(pattern: str) -> tuple[Node, ...]:
    """Return the alternatives of a pattern, usually one. Raises PatternError with the column of the mistake."""
    return _Parser(pattern).parse()


class _Parser:
    """One method per grammar rule.

    pattern      alternative ("|" alternative)*
    alternative  node [any]                     "(" alternative ")" [any]
    any          all ("|" all)*
    all          one (["&"] one)*
    one          "!"* group    "?" group
    group        "[" any "]"    "(" any ")"    relation
    relation     SYMBOL target    CHAIN "(" label ")" target    "<..." "{" target (";" target)* "}"
    target       "(" alternative ")"    node
    node         label ["=" NAME]    "=" NAME    "~" NAME ["=" NAME]
    label        ["!"] (["@"] atoms ["#" NUMBER "%" NAME]* | "{" attribute ("&" attribute)* "}")
    attribute    ["!"] (NAME | "_." NAME) [":" atoms]
    atoms        ATOM ("|" ATOM)*
    """

    def __init__(self, pattern: str):
        self._pattern, self._tokens, self._position = pattern, tokenize(pattern), 0
        self._names, self._depth = _Names(pattern), 0

    def parse(self) -> tuple[Node, ...]:
        with self._names.alternatives():
            alternatives = [self._alternative()]
            while self._take("|"):
                self._names.alternative()
                alternatives.append(self._alternative())
        if self._next.kind != END:
            raise self._error(f"expected a relation such as '<' or '$+', or the end, found {self._next}")
        return tuple(alternatives)

    # Nodes

    def _alternative(self) -> Node:
        node = self._target()
        if not self._begins_constraint():
            return node
        constraint = self._any()
        parts = (constraint,) if node.constraint is None else (node.constraint, constraint)
        return Node(node.test, node.name, _joined(And, parts))

    def _target(self) -> Node:
        if self._next.kind == "(":
            with self._brackets(")"):
                return self._alternative()
        return self._node()

    def _node(self) -> Node:
        is_negated = self._take("!") is not None
        if self._next.kind in ("=", "~"):
            return self._reference(is_negated)
        description = self._description(is_negated)
        return Node(description, self._new_name())

    def _reference(self, is_negated: bool) -> Node:
        by_label = self._advance().kind == "~"
        name = self._name()
        self._names.refer(name)
        return Node(Reference(name.text, by_label, is_negated), self._new_name() if by_label else None)

    def _new_name(self) -> str | None:
        if not self._take("="):
            return None
        name = self._name()
        self._names.declare(name)
        return name.text

    def _name(self) -> Token:
        if self._next.kind != LABEL:
            raise self._error(f"expected a name, found {self._next}")
        return self._advance()

    def _description(self, is_negated: bool) -> Description:
        if self._next.kind == "{":
            with self._brackets("}"):
                attributes = [self._attribute()]
                while self._take("&"):
                    attributes.append(self._attribute())
            return Description(is_negated=is_negated, is_leaf=True, attributes=tuple(attributes))
        by_category = self._take("@") is not None
        atoms = self._atoms()
        captures = tuple(self._captures(atoms[-1] if atoms else None)) if self._next.kind == "#" else ()
        return Description(atoms, is_negated, by_category, captures=captures)

    def _attribute(self) -> tuple[str, Description]:
        is_negated, token = self._take("!") is not None, self._advance()
        name = token.text
        if name == "_" and self._next.text == ".":
            self._advance()
            name = f"_.{self._name().text}"
        elif name not in TOKEN_ATTRIBUTES:
            near = get_close_matches(name.upper(), TOKEN_ATTRIBUTES) or TOKEN_ATTRIBUTES
            what = f"expected an attribute of tokens, found {token}: choose from {', '.join(near)}, _.NAME"
            raise PatternError(self._pattern, token.column, what)
        if self._next.text != ":":
            return name, Description((Atom("True"),), is_negated)
        self._advance()
        atoms = self._atoms()
        if name == "MORPH":  # one feature of several, as in Case=Nom|Number=Sing
            atoms = tuple(
                one if one.is_regex else Atom(rf"(^|\|){re.escape(one.text)}(\||$)", True, one.ignores_case)
                for one in atoms
            )
        return name, Description(atoms, is_negated)

    def _atoms(self) -> tuple[Atom, ...]:
        """Read atoms with bars between them; return none if one of them is `__`."""
        atoms = [self._atom()]
        while self._next_is_joined("|") and self._tokens[self._position + 1].kind in ATOMS:
            self._advance()
            atoms.append(self._atom())
        known = tuple(atom for atom in atoms if atom is not None)
        return known if len(known) == len(atoms) else ()

    def _atom(self) -> Atom | None:
        token = self._next
        if token.kind not in ATOMS:
            hint = f'; put it in quotes ("{token.text}") if it is a label' if token.kind in _RELATIONS else ""
            raise self._error(f"expected a node{self._behind()}, found {token}{hint}")
        self._advance()
        if token.kind == ANY:
            return None
        ignores_case = token.text.startswith("i@")
        text = token.text[2:] if ignores_case else token.text
        if token.kind == REGEX:
            atom = Atom(text[1:-1], is_regex=True, ignores_case=ignores_case)
            column = token.end - len(text) + 2
            try:
                bounded_regex(atom.text, atom.ignores_case)
            except re.error as error:
                column += error.pos or 0
                raise PatternError(self._pattern, column, f"invalid regular expression: {error.msg}") from None
            except OverflowError as error:  # a number of repetitions that no string could have
                raise PatternError(self._pattern, column, f"invalid regular expression: {error}") from None
            except UnboundedError as error:
                raise PatternError(self._pattern, column, str(error)) from None
            except RecursionError:
                raise PatternError(self._pattern, column, "too many nested groups") from None
            return atom
        if token.kind == QUOTED:
            text = re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
        return Atom(text, ignores_case=ignores_case)

    def _captures(self, atom: Atom | None) -> Iterator[tuple[int, str]]:
        while token := self._take("#"):
            number = self._advance()
            n_groups = re.compile(atom.text).groups if atom is not None and atom.is_regex else 0
            if not number.text.isdecimal() or not 1 <= int(number.text) <= n_groups:
                what = (
                    f"expected the number of one of the {n_groups} groups of the regular expression before '#'"
                    if n_groups
                    else "expected a regular expression with groups before '#', which stands before the number of one"
                )
                raise PatternError(self._pattern, token.column, what)
            if atom is not None and not bounded_regex(atom.text, atom.ignores_case).can_capture:
                raise PatternError(self._pattern, token.column, str(UnboundedError("a variable")))
            if self._next.text != "%":
                raise self._error(f"expected '%' and a variable, found {self._next}")
            self._advance()
            yield int(number.text), self._name().text

    # Constraints on the nodes around them

    def _any(self) -> Constraint:
        with self._names.alternatives():
            parts = [self._all()]
            while self._next.kind == "|" and self._begins_constraint(1):
                self._advance()
                self._names.alternative()
                parts.append(self._all())
        return _joined(Or, tuple(parts))

    def _all(self) -> Constraint:
        parts = [self._one()]
        while self._next.kind == "&" or self._begins_constraint():
            self._take("&")
            parts.append(self._one())
        return _joined(And, tuple(parts))

    def _one(self) -> Constraint:
        n_negations = 0
        while self._take("!"):
            n_negations += 1
        if not n_negations:
            return Maybe(self._group()) if self._take("?") else self._group()
        with self._names.negation():
            negated = Not(self._group())
        return negated if n_negations % 2 else Not(negated)

    def _group(self) -> Constraint:
        if self._next.kind in ("[", "("):
            with self._brackets("]" if self._next.kind == "[" else ")"):
                return self._any()
        return self._relation()

    def _relation(self) -> Constraint:
        token = self._advance()
        if token.kind == CHAIN:
            return Relation(CHAINS[token.text], chain=self._chain(), target=self._target())
        if token.kind == NTH:
            number = int(token.text[1:])
            if not 0 < abs(number) < 1_000_000:
                raise PatternError(
                    self._pattern, token.column, "children are counted from 1, or from -1 at the right end"
                )
            step = Step.NTH_CHILD if token.text[0] == "<" else Step.NTH_CHILD_OF
            return Relation(step, self._target(), number)
        if token.kind != RELATION:
            self._position -= 1
            raise self._error(f"expected a relation such as '<' or '$+', found {token}")
        if token.text == CHILDREN:
            return self._children()
        if token.text == SAME_OR_CHILD:
            target = self._target()
            return Or((Relation(Step.SELF, target), Relation(Step.CHILD, target)))
        if token.text == LEAF_BELOW:
            return _leaf_below(self._target())
        symbol = token.text.replace("%", "$")
        step, number = SYMBOLS.get(symbol) or REPEATED[symbol]
        return Relation(step, self._target(), number, None if symbol in SYMBOLS else ANYTHING)

    def _chain(self) -> Description:
        closing = {"(": ")", "[": "]"}.get(self._next.kind)
        if closing is None:
            raise self._error(f"expected '('{self._behind()}, with the nodes allowed in between, found {self._next}")
        with self._brackets(closing):
            return self._description(self._take("!") is not None)

    def _children(self) -> Constraint:
        if self._next.kind != "{":
            raise self._error(f"expected '{{' and the children after '<...', found {self._next}")
        with self._brackets("}"):
            children = [self._target()]
            while self._take(";"):
                children.append(self._target())
        parts = [Relation(Step.NTH_CHILD, child, number) for number, child in enumerate(children, start=1)]
        return And((*parts, Not(Relation(Step.NTH_CHILD, Node(ANYTHING), len(children) + 1))))

    # Tokens

    @property
    def _next(self) -> Token:
        return self._tokens[self._position]

    def _advance(self) -> Token:
        token = self._next
        self._position += token.kind != END
        return token

    def _take(self, kind: str) -> Token | None:
        return self._advance() if self._next.kind == kind else None

    def _next_is_joined(self, kind: str) -> bool:
        """Return whether this token comes next, with no blank on either side of it."""
        before, token = self._tokens[self._position - 1], self._next
        return token.kind == kind and before.end == token.start and self._tokens[self._position + 1].start == token.end

    def _begins_constraint(self, offset: int = 0) -> bool:
        """Return whether a constraint comes next, not a node."""
        position = self._position + offset
        while self._tokens[position].kind in ("!", "?", "[", "("):
            position += 1
        return self._tokens[position].kind in _RELATIONS

    @contextmanager
    def _brackets(self, closing: str) -> Iterator[None]:
        opening = self._advance()
        with self._deeper():
            yield
        if not self._take(closing):
            what = f"expected {closing!r} for the {opening.text!r} of column {opening.column}, found {self._next}"
            hint = "; write labels to choose from without blanks, as in NN|NNS" if self._next.kind == "|" else ""
            if self._next.kind == "=" and closing == "}":
                hint = '; put values with other characters in quotes, as in {MORPH:"Number=Plur"}'
            raise self._error(what + hint)

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"more than {MAX_DEPTH} nested brackets")
        yield
        self._depth -= 1

    def _behind(self) -> str:
        return f" after {self._tokens[self._position - 1]}" if self._position else ""

    def _error(self, what: str) -> PatternError:
        return PatternError(self._pattern, self._next.column, what)


def _joined(kind: type[And] | type[Or], parts: tuple[Constraint, ...]) -> Constraint:
    return parts[0] if len(parts) == 1 else kind(parts)


def _leaf_below(target: Node) -> Constraint:
    """Return `<< target` with a word as target."""
    is_word = Relation(Step.SELF, Node(Description(is_leaf=True)))
    constraint = is_word if target.constraint is None else And((is_word, target.constraint))
    return Relation(Step.CHILD, Node(target.test, target.name, constraint), chain=ANYTHING)
