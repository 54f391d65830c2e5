"""Grammars as plain lists, for models."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacy_incparse.chart.grammar.grammar import Grammar
from spacy_incparse.errors import ModelError, check_texts

WIDTHS = {"binary": 3, "unary": 2, "lexical": 1, "roots": 1}


def grammar_to_dict(grammar: Grammar) -> dict[str, Any]:
    """Return a grammar as a dict for JSON or msgpack."""
    ids = grammar.state_ids
    names = [*grammar.states, *sorted({name for chain in grammar.chains for name in chain} - set(ids))]
    ids = {name: number for number, name in enumerate(names)}
    return {
        "states": list(grammar.states),
        "passed_states": names[len(grammar.states) :],  # only within chains
        **{kind: getattr(grammar, kind).ravel().tolist() for kind in WIDTHS},
        "chains": [[ids[name] for name in chain] for chain in grammar.chains],
        "counts": grammar.counts.tolist(),
    }


def grammar_from_dict(data: dict[str, Any]) -> Grammar:
    """Return the grammar in a dict from `grammar_to_dict`. Raises ModelError for anything else."""
    _check(isinstance(data, dict), "it is no dict")
    for name in ("states", "passed_states", *WIDTHS, "chains", "counts"):
        _check(isinstance(data.get(name), list), f"its {name} are no list")
    check_texts(data["states"], "states")
    check_texts(data["passed_states"], "states")
    names = [*data["states"], *data["passed_states"]]
    rows = {kind: _numbers(data[kind], len(data["states"]), width, kind) for kind, width in WIDTHS.items()}
    for chain in data["chains"]:
        _check(isinstance(chain, list), "one of its chains is no list")
        _numbers(chain, len(names), 1, "chains")
    counts = _numbers(data["counts"], 2**62, 1, "counts")[:, 0]
    _check(len(data["chains"]) == len(rows["unary"]), "it has not one chain per unary rule")
    _check(len(counts) == sum(map(len, rows.values())), "it has not one count per rule")
    return Grammar(
        states=tuple(data["states"]),
        binary=rows["binary"].astype(np.int32),
        unary=rows["unary"].astype(np.int32),
        chains=tuple(tuple(names[number] for number in chain) for chain in data["chains"]),
        lexical=rows["lexical"][:, 0].astype(np.int32),
        roots=rows["roots"][:, 0].astype(np.int32),
        counts=counts,
    )


def _numbers(values: list[Any], limit: int, width: int, what: str) -> np.ndarray:
    """Return whole numbers from 0 up to a limit as rows."""
    is_right = all(type(value) is int and 0 <= value < limit for value in values)
    _check(is_right and len(values) % width == 0, f"its {what} are not rows of {width} numbers below {limit}")
    return np.array(values, np.int64).reshape(-1, width)


def _check(is_right: bool, what: str) -> None:
    if not is_right:
        raise ModelError(f"the model's grammar is damaged: {what}")
