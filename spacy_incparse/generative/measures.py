"""Measures of what a word costs an incremental reader, from the probabilities of a generative model alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import isfinite, log, prod
from typing import Any

from spacy_incparse.errors import IncparseError

BITS = 1 / log(2)

RELAXED = "relaxed"  # the grammar's triples allow no analysis of the word
UNKNOWN = "unknown"  # the word is unknown: the figures are those of its class, and its share of it
EMPTY = "empty"  # there is no analysis
JOINED = "joined"  # the sum over the parts of a written word


@dataclass(frozen=True)
class WordMeasures:
    """The measures of one word; None if there is no value, with the reason in `flag` (words separated by commas).

    prefix_logprob: log2 probability of all words so far, minus the sum of their surprisals (0 or less).
    surprisal, surprisal_syntactic, surprisal_lexical: bits; the first is the sum of the others.
    entropy: of q over the beam, bits. entropy_reduction: entropy before the word minus entropy after it; may be < 0.
    steps: expected number of derivation steps for the word: phrases ended, phrases begun, the tag and the word.
    open_nodes: expected number of open constituents after the word, without the root.
    depth: expected number of phrases above the word, without the root.
    best_survives: share of q on extensions of the analysis that was best before the word, 0 to 1.

    Definitions follow Roark, Bachrach, Cardenas & Pallier (2009), in bits; docs/measures.md gives them in full. The
    hypotheses h of the beam after i words are partial derivations with probabilities p(h), the ones before any filter
    that extend them are their extensions, and q(h) = p(h) / (sum of p over the beam).
    """

    prefix_logprob: float | None
    surprisal: float | None
    surprisal_syntactic: float | None
    surprisal_lexical: float | None
    entropy: float | None
    entropy_reduction: float | None
    steps: float | None
    open_nodes: float | None
    depth: float | None
    best_survives: float | None
    flag: str = ""


MEASURES = tuple(field.name for field in fields(WordMeasures) if field.name != "flag")


def measuring_parser(parser: Any, name: str) -> Any:
    """Return the parser if it has `measures` of words.

    Raises IncparseError for other parsers: their scores are not probabilities, so there is no surprisal.
    """
    if not hasattr(parser, "measures"):
        raise IncparseError(
            f"the parser of {name!r} gives no probabilities of words, so that there are no measures: take a generative "
            f"one, such as 'en_generative', or train one (spacy-incparse train ... --config generative)"
        )
    return parser


def word_measures(
    found: tuple[float, ...], before: WordMeasures | None, spelling: float | None, *, is_relaxed: bool
) -> WordMeasures:
    """Return the measures of a word from the beam's figures for it and the measures of the previous word.

    spelling: the natural log of an unknown word's share of its class; None for a known word.
    """
    word, syntactic, entropy, steps, open_nodes, depth, best_survives = found
    word += spelling or 0.0
    flags = [UNKNOWN] * (spelling is not None) + [RELAXED] * is_relaxed
    prefix = 0.0 if before is None else before.prefix_logprob
    if not isfinite(word) or prefix is None:
        return WordMeasures(**dict.fromkeys(MEASURES), flag=",".join([*flags, EMPTY]))
    old_entropy = 0.0 if before is None else before.entropy
    return WordMeasures(
        prefix_logprob=prefix + word * BITS,
        surprisal=-word * BITS,
        surprisal_syntactic=-syntactic * BITS,
        surprisal_lexical=(syntactic - word) * BITS,
        entropy=entropy * BITS,
        entropy_reduction=None if old_entropy is None else old_entropy - entropy * BITS,
        steps=steps,
        open_nodes=open_nodes,
        depth=depth,
        best_survives=best_survives,
        flag=",".join(flags),
    )


def joined(parts: Sequence[WordMeasures]) -> WordMeasures:
    """Return the measures of a written word of several parts, such as a word with its clitic or its full stop.

    Surprisals, steps and entropy reductions are summed; the prefix probability, entropy, open nodes and depth are those
    after the last part; `best_survives` is the product. If a part has no value, the whole has none.
    """
    if len(parts) == 1:
        return parts[0]
    flags = dict.fromkeys(flag for part in parts for flag in part.flag.split(",") if flag)
    values: dict[str, float | None] = {}
    for name in MEASURES:
        column = [getattr(part, name) for part in parts]
        known = [value for value in column if value is not None]
        joint = sum(known) if name in _SUMMED else prod(known) if name == "best_survives" else column[-1]
        values[name] = joint if len(known) == len(column) else None
    return WordMeasures(**values, flag=",".join([*flags, JOINED]))


_SUMMED = ("surprisal", "surprisal_syntactic", "surprisal_lexical", "entropy_reduction", "steps")
