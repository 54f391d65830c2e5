"""Find passives: subject, participle and, if it is mentioned, the agent.

usage: python examples/passives.py TEXT_FILE

Each passive has a tab-separated line: the pattern's name, the participle, the subject and the agent; "-" stands for a
missing value.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

import spacy_incparse
from spacy_incparse import ConstituentMatcher

BE = "/^VB/ < i@/^(am|is|are|was|were|be|been|being|'s|'re|'m|get|gets|got)$/"
PARTICIPLE = "VP < /^VB[ND]$/=participle ?< (PP=agent < (IN < by))"
# The subject is the sister of the outermost verb phrase ("the wall has been rebuilt"); in a relative clause, it is the
# noun phrase that the clause modifies ("a tin that was sold").
SUBJECT = "?[>+(VP) (VP $-- NP=subject) | >+(VP) (VP > (S > (SBAR $,, NP=subject)))]"
PATTERNS = {
    "PASSIVE": f"{PARTICIPLE} > (VP < ({BE})) {SUBJECT}",
    "REDUCED": f"{PARTICIPLE} $, NP=subject > NP",  # "a tin sold by ..."
}


def passive_matcher(nlp: Language) -> ConstituentMatcher:
    """Return a matcher with the patterns."""
    matcher = ConstituentMatcher(nlp.vocab)
    for name, pattern in PATTERNS.items():
        matcher.add(name, pattern)
    return matcher


def passives(doc: Doc, matcher: ConstituentMatcher) -> Iterator[dict[str, str]]:
    """Yield the passives of a parsed Doc: the pattern's name as "kind", and the text of each group."""
    for match in matcher(doc):
        groups = {name: span.text.replace("\n", " ") for name, span in match.groups.items()}
        yield {"kind": match.span.label_, **groups}


if __name__ == "__main__":
    nlp = spacy_incparse.load("en")
    doc = nlp(Path(sys.argv[1]).read_text(encoding="utf8"))
    for found in passives(doc, passive_matcher(nlp)):
        print(*(found.get(column, "-") for column in ("kind", "participle", "subject", "agent")), sep="\t")
