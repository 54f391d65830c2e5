"""Trees of what the sources of the embedded pipelines hardly have: speech in quotes, and amounts of money.

A newspaper has 40 quotations with a verb of saying and 40 amounts of money among 10,000 words; GUM's allowed genres,
MASC and CRAFT have one or two. The trees follow the Penn Treebank's guidelines. Sentences and phrases of the sources'
trees fill templates; verbs, names and numbers are drawn from short lists.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from spacy_incparse.trees.tree import Tree

MAX_WORDS = 25  # of a sentence that is quoted
MAX_PHRASE = 6  # words of a phrase that fills a template
MARKS = (('(`` ")', "('' \")"), ("(`` “)", "('' ”)"), ("", ""))
PAST = (
    "said", "added", "explained", "replied", "wrote", "insisted", "noted", "warned", "argued", "recalled", "announced",
    "whispered", "shouted", "cried", "continued", "admitted", "predicted", "suggested", "declared", "muttered",
)  # fmt: skip
PRESENT = ("says", "adds", "explains", "writes", "insists", "notes", "warns", "argues", "recalls", "concedes")
FIRST = ("Maria", "Tom", "Helen", "Ahmed", "Jean", "Olga", "Peter", "Rosa", "Ken", "Ingrid", "Samuel", "Priya")
LAST = ("Keller", "Ortega", "Lindqvist", "Baker", "Novak", "Tanaka", "Moreau", "Okafor", "Singh", "Hughes", "Rossi")
FIRMS = ("Norfield", "Halden", "Castell", "Meridia", "Brookline", "Tarn", "Ostara", "Pelham")
KINDS = ("Inc.", "Corp.", "Co.", "Ltd.", "Group", "Bank", "Industries", "Airlines")
ROLES = ("spokesman", "spokeswoman", "analyst", "director", "manager", "lawyer", "economist", "professor", "chairman")
PEOPLE = ("man", "woman", "teacher", "farmer", "doctor", "captain", "neighbour", "mayor", "official", "boy", "girl")
ADJECTIVES = ("old", "young", "tired", "local", "senior", "retired", "former")
CURRENCIES = ("$", "$", "$", "$", "$", "$", "$", "£", "€", "US$", "C$")
UNITS = ("million", "million", "million", "billion", "billion", "trillion")
SHARES = ("share", "barrel", "ton", "pound", "month", "year", "ticket", "unit", "gallon", "night")
THINGS = ("loan", "bond", "deal", "contract", "fund", "offer", "payment", "grant", "fine", "plan", "budget", "loss")
FIGURES = ("profit", "loss", "debt", "income", "price", "value", "deficit", "revenue", "total", "surplus")
TIMES = ("(NP (JJ last) (NN year))", "(NP (DT this) (NN week))", "(NP (NNP Monday))", "(NP (NN yesterday))")


class Builder:
    """Draws trees. rng: the random numbers; trees: the sources, whose sentences and phrases fill templates."""

    def __init__(self, rng: random.Random, trees: Sequence[Tree]):
        self._rng = rng
        sentences = [tree.children[0] for tree in trees if len(tree.children) == 1]
        self._sentences = {
            label: [node for node in sentences if node.label == label and _can_be_quoted(node)]
            for label in ("S", "SQ", "SBARQ")
        }
        self._phrases = [
            str(node)
            for tree in trees
            for node in tree.phrases("NP")
            if 1 < len(node.words) <= MAX_PHRASE and _is_plain(node)
        ]

    def quotation(self) -> str:
        """Return a sentence with speech: `"...", said X` (SINV), `"...", X said`, `..., X said, ...`."""
        draw = self._rng
        begin, end = draw.choice(MARKS)
        if draw.random() < 0.12:  # a question
            said, _ = self._sentence(draw.choice(("SQ", "SBARQ")))
            quoted, verb = f"{said} {end}", draw.choice(("asked", "asks", "wondered", "demanded"))
        else:
            said, parts = self._sentence("S")
            if draw.random() < 0.25:
                return self._interrupted(begin, end, parts)
            quoted, verb = f"{said} (, ,) {end}", self._verb()
        late = draw.choice(TIMES) if draw.random() < 0.08 else ""
        if draw.random() < 0.6:
            return f"(SINV {begin} {quoted} (VP {_verb(verb)}) {self._speaker(inverted=True)} {late} (. .))"
        return f"(S {begin} {quoted} {self._speaker()} (VP {_verb(verb)}{late}) (. .))"

    def _interrupted(self, begin: str, end: str, parts: Sequence[Tree]) -> str:
        """Return a sentence with `, X said,` after the subject, or after what stands before it."""
        draw = self._rng
        says = f"(VP {_verb(self._verb())})"
        inner = (
            f"(SINV {says} {self._speaker(inverted=True)})"
            if draw.random() < 0.4
            else f"(S {self._speaker(short=True)} {says})"
        )
        aside = f"(PRN (, ,) {end} {inner} (, ,) {begin})"
        first, rest = parts[0], [part for part in parts[1:] if part.label != ","]
        return f"(S {begin} {first} {aside} {' '.join(map(str, rest))} (. .) {end})"

    def money(self) -> str:
        """Return a sentence with amounts of money or shares of 100, in the shapes that news have."""
        draw = self._rng
        subject, thing = self._phrase(), self._phrase()
        m, n = self._amount(), self._amount()
        figure = f"(NN {draw.choice(FIGURES)})"
        per = f"(NP (NP {draw.choice((m, self._small()))}) (NP (DT a) (NN {draw.choice(SHARES)})))"
        many = f"(NP {m})"
        attribute = f"(NP (DT {draw.choice(('a', 'the'))}) (ADJP {m}) (NN {draw.choice(THINGS)}))"
        percent = f"(NP (CD {draw.randrange(1, 99)}{draw.choice(('', '.5', '.8'))}) (NN %))"
        rose = draw.choice(("rose", "fell", "climbed", "dropped", "jumped", "slid", "grew", "increased"))
        cents = f"(NP (CD {draw.randrange(2, 95)}) (NNS cents))"
        share = f"(NP {cents} (NP (DT a) (NN share)))"
        earlier = draw.choice(("", "", "(ADVP (NP (DT a) (NN year)) (RBR earlier))"))
        before = f"(PP (IN from) {self._with(many, earlier)})"
        vp: Callable[[], str] = draw.choice(
            (
                lambda: f"(VP (VBD paid) {draw.choice((many, per))} (PP (IN for) {thing}))",
                lambda: f"(VP {_verb(draw.choice(('costs', 'cost', 'earns', 'spent', 'raised')))} {many})",
                lambda: f"(VP (VBD sold) {thing} (PP (IN for) {draw.choice((many, per))}))",
                lambda: f"(VP (VBD {rose}) {percent} (PP (TO to) (NP {n})) {before})",
                lambda: f"(VP (VBD {rose}) (PP (TO to) {draw.choice((many, per))}) {before})",
                lambda: f"(VP (VBD reported) (NP (NP (DT a) {figure}) (PP (IN of) {self._or_share(n, share)})))",
                lambda: f"(VP (VBD had) (NP (NP {figure}) (PP (IN of) {many})))",
                lambda: f"(VP (VBD signed) {attribute} (PP (IN with) {thing}))",
                lambda: f"(VP (VBD got) {attribute})",
                lambda: f"(VP (VBD closed) (PP (IN at) (NP {self._small()})) (, ,) (ADVP (RB up) {cents}))",
                lambda: f"(VP (VBZ is) (ADJP (JJ worth) {draw.choice((many, self._between()))}))",
                lambda: f"(VP (MD will) (VP (VB cost) {self._between()}))",
                lambda: f"(VP (VBD offered) {self._or_share(m, per)} (PP (IN for) {thing}))",
                lambda: f"(VP (VBD lent) {thing} {many})",
                lambda: f"(VP (VBD spent) (NP (NP {n}) (PP (IN of) (NP (PRP$ its) (NN money)))) (PP (IN on) {thing}))",
            )
        )
        return f"(S {draw.choice((subject, self._firm(), self._firm()))} {vp()} (. .))"

    def _sentence(self, label: str) -> tuple[str, list[Tree]]:
        """Return a sentence without its full stop, and the parts of it."""
        node = self._rng.choice(self._sentences[label])
        parts = [part for part in node.children if label != "S" or part.label != "."]
        return f"({label} {' '.join(map(str, parts))})", parts

    def _verb(self) -> str:
        return self._rng.choice(PAST if self._rng.random() < 0.65 else PRESENT)

    def _name(self) -> str:
        draw = self._rng
        title = draw.choice(("", "", "", "(NNP Mr.) ", "(NNP Ms.) ", "(NNP Dr.) "))
        first = "" if title or draw.random() < 0.2 else f"(NNP {draw.choice(FIRST)}) "
        middle = f"(NNP {draw.choice('ABCDEFGHJKLMRSTW')}.) " if first and draw.random() < 0.2 else ""
        return f"(NP {title}{first}{middle}(NNP {draw.choice(LAST)}))"

    def _firm(self) -> str:
        return f"(NP (NNP {self._rng.choice(FIRMS)}) (NNP {self._rng.choice(KINDS)}))"

    def _speaker(self, *, inverted: bool = False, short: bool = False) -> str:
        draw = self._rng
        role = f"(NN {draw.choice(ROLES)})"
        at = f"(PP (IN {draw.choice(('at', 'for', 'of', 'with'))}) {draw.choice((self._firm(), self._phrase()))})"
        apposition = draw.choice(
            (
                f"(NP (NP {draw.choice(('(DT a) ', '(DT an) ', '(DT the) ', '', '(JJ senior) '))}{role}) {at})",
                f"(NP (NP {self._firm()[4:-1]} (POS 's)) {role})",
                f"(NP (DT the) {role})",
            )
        )
        person = f"(NP (DT {draw.choice(('the', 'a', 'one'))}) "
        person += f"(JJ {draw.choice(ADJECTIVES)}) " if draw.random() < 0.4 else ""
        person += f"(NN {draw.choice(PEOPLE)}))"
        kinds = [self._name(), person, self._name()]
        if not inverted:
            kinds += [f"(NP (PRP {draw.choice(('he', 'she'))}))"] * 3
        if not short:
            kinds += [f"(NP {self._name()} (, ,) {apposition})", f"(NP (NP (DT a) {role}) {at})"] * 2
        return draw.choice(kinds)

    def _phrase(self) -> str:
        return self._rng.choice(self._phrases)

    def _number(self) -> str:
        whole = self._rng.randrange(1, 999)
        return f"{whole}.{self._rng.randrange(1, 99)}" if self._rng.random() < 0.4 else str(whole)

    def _small(self) -> str:
        """Return the inside of an amount without a unit: a currency and a number."""
        sign = self._rng.choice(CURRENCIES)
        number = f"{self._rng.randrange(1, 99)},{self._rng.randrange(0, 999):03}"
        return f"($ {sign}) (CD {self._rng.choice((self._number(), number))})"

    def _big(self) -> str:
        return f"($ {self._rng.choice(CURRENCIES)}) (CD {self._number()}) (CD {self._rng.choice(UNITS)})"

    def _amount(self) -> str:
        """Return the inside of an amount: `$ 5`, or a QP where it has more parts."""
        draw = self._rng
        if draw.random() < 0.35:
            return self._small()
        words = draw.choice(("", "", "", "(RB about) ", "(IN about) ", "(RB nearly) ", "(JJR more) (IN than) "))
        return f"(QP {words}{self._small() if words and draw.random() < 0.4 else self._big()})"

    def _between(self) -> str:
        m, n = (self._big(), self._big()) if self._rng.random() < 0.5 else (self._small(), self._small())
        pair = self._rng.choice((f"(IN between) {m} (CC and) {n}", f"{m} (TO to) {n}"))
        return f"(NP (QP {pair}))"

    @staticmethod
    def _with(phrase: str, earlier: str) -> str:
        return f"(NP {phrase} {earlier})" if earlier else phrase

    @staticmethod
    def _or_share(amount: str, share: str) -> str:
        return f"(NP (NP {amount}) (, ,) (CC or) {share} (, ,))"


def constructed(trees: Sequence[Tree], n: int, seed: int) -> list[Tree]:
    """Return n trees with speech and as many with money, made from sentences and phrases of trees."""
    builder = Builder(random.Random(seed), trees)
    found = [f"(TOP {make()})" for make in (builder.quotation, builder.money) for _ in range(n)]
    return [Tree.from_string(re.sub(r"\s+", " ", text)) for text in found]


def _verb(word: str) -> str:
    return f"({'VBZ' if word.endswith('s') else 'VBD'} {word})"


def _is_plain(node: Tree) -> bool:
    return node.tags[0] not in {",", ":", "``", "''", "-LRB-", "CC", "SYM", "LS"} and not set(node.tags) & {"$", "``"}


def _can_be_quoted(node: Tree) -> bool:
    """Whether a sentence is short, has no quotes, and begins with its subject or something before it."""
    labels = [child.label for child in node.children]
    return (
        4 <= len(node.words) <= MAX_WORDS
        and not {"``", "''", "-LRB-", ":"} & set(node.tags)
        and labels[-1] == "."
        and (node.label != "S" or (labels[0] in ("NP", "PP", "ADVP", "SBAR") and "VP" in labels and "CC" not in labels))
    )
