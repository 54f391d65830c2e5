"""Random patterns over the labels and words of tests/strategies.py."""

from hypothesis import strategies as st

LABELS = ("S", "NP", "VP", "PP", "NN", "NNS", "DT", "the", "cat", "dog", "ROOT", "TOP", "_ROOT_")
ATOMS = (
    *LABELS,
    "__",
    '","',
    '"PRP$"',
    "/^N/",
    "/P/",
    "/^.$/",
    "i@np",
    "@NP",
    "@/^NP$/",
    "NP|VP",
    "NN|/^V/",
    "!NP",
    "!/^N/",
    "!S1",
    "i@vroot|NN",
)
ATOMS += ("NP-SBJ", "/-([0-9])/", "!@NP|DT", "*T*-1")
TOKEN_ATOMS = ("{LEMMA:cat|/o/}", "!{POS:NOUN}", "{LEMMA:dog & !POS:VERB}", "{IS_TITLE}", "{_.mark:1}", "{!_.mark:0|1}")
RELATIONS = (
    "< > << >> <, >, <- >- <1 <2 >2 <-2 >-1 <<, >>, <<- >>- <: >: <<: >>: $ $+ $- $. $, $++ $-- $.. $,, . , .. ,, "
    "<# ># <<# >># == <= <<< : <+(NP) >+(!NP) .+(__) ,+(NN|DT) <+(/P/)"
).split()
LINKS = ("=", "~")


@st.composite
def patterns(draw, max_nodes: int = 5, atoms=ATOMS) -> str:
    """A pattern with up to so many nodes; with names and references to them, captures, and all operators."""
    writer = _Writer(draw, draw(st.integers(1, max_nodes)), atoms)
    text = writer.node(is_top=True)
    if draw(st.integers(0, 9)) == 0:
        text += " | " + _Writer(draw, 2, atoms).node(is_top=True)
    return text


class _Writer:
    def __init__(self, draw, n_nodes: int, atoms):
        self.draw, self.n_left, self.atoms = draw, n_nodes, atoms
        self.known: list[str] = []
        self.n_names = 0

    def node(self, is_top=False, can_name=True) -> str:
        self.n_left -= 1
        draw = self.draw
        if self.known and draw(st.integers(0, 3)) == 0:
            text = draw(st.sampled_from(LINKS)) + draw(st.sampled_from(self.known))
            text = "!" * draw(st.booleans()) + text
        elif draw(st.integers(0, 9)) == 0:
            text = "/(.)$/#1%x"
        else:
            text = draw(st.sampled_from(self.atoms))
            if can_name and draw(st.integers(0, 1)):
                self.n_names += 1
                text += f"=n{self.n_names}"
                self.known.append(f"n{self.n_names}")
        constraint = self.constraints(can_name) if self.n_left > 0 else ""
        text = f"{text} {constraint}".strip()
        return text if is_top or not constraint else f"({text})"

    def constraints(self, can_name) -> str:
        parts = []
        while self.n_left > 0 and len(parts) < 3:
            parts.append(self.constraint(can_name))
        return " ".join(parts)

    def constraint(self, can_name) -> str:
        kind = self.draw(st.integers(0, 9))
        if kind == 0:
            return "!" + self.relation(False)
        if kind == 1:
            return "?" + self.relation(can_name)
        if kind == 2 and self.n_left > 1:
            before = list(self.known)
            first = self.relation(can_name)
            after, self.known = self.known, before
            second = self.relation(can_name)
            self.known = list(dict.fromkeys([*after, *self.known]))
            return self.draw(st.sampled_from(("[", "[", "![" if not set(self.known) - set(before) else "["))) + (
                f"{first} | {second}]"
            )
        return self.relation(can_name)

    def relation(self, can_name) -> str:
        symbol = self.draw(st.sampled_from(RELATIONS))
        return f"{symbol} {self.node(can_name=can_name)}"
