"""Table 1 of Collins & Roark (2004) for any treebank: chain types, unseen chains, and the coverage of the grammar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from spacy_incparse.incremental.grammar import SHORT_CHAIN, Grammar, derivation, retag
from spacy_incparse.transforms.left_corner import transform
from spacy_incparse.trees.tree import Tree

# A chain with its tag as the last element, as the paper writes it.
ChainType = tuple[str, ...]
Tags = Sequence[Sequence[str]]


@dataclass(frozen=True)
class ChainRow:
    """One row of Table 1: types of chains longer than two; shares of held-out words (0-1) with an unseen chain.

    `unseen` is for a grammar of all chains, `unseen_pruned` for one without the rare long chains. The held-out figures
    are None without held-out trees.
    """

    transform: str  # "none" or "left corner"
    tags: str  # "gold" for the trees' own, or "given"
    n_types: int
    n_repeated_types: int  # seen at least `chain_min_count` times
    held_out_types: int | None = None
    unseen: float | None = None
    unseen_pruned: float | None = None


@dataclass(frozen=True)
class Coverage:
    """Shares of held-out sentences (0-1) that a strict grammar derives; a sentence may miss a chain and a triple."""

    chain_min_count: int  # the grammar's cut-off: 1 for all chains
    derived: float
    missing_chain: float
    missing_triple: float


@dataclass(frozen=True)
class GrammarTable:
    """The counts of `grammar_table`."""

    n_sentences: int
    n_words: int
    held_out_sentences: int
    held_out_words: int
    n_nonterminals: int
    n_tags: int
    n_chains: int
    n_triples: int
    with_top: bool
    chain_min_count: int
    rows: tuple[ChainRow, ...]
    coverage: tuple[Coverage, ...]  # of all chains and of those kept; () without held-out trees

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain dicts and lists; shares are fractions from 0 to 1."""
        return asdict(self)

    def format(self) -> str:
        """Return the figures as aligned text; shares are in percent."""
        header = (
            "transform",
            "tags",
            "held-out types",
            "types",
            "unseen",
            f"seen {self.chain_min_count}+ times",
            "unseen",
        )
        rows = []
        for row in self.rows:
            unseen, pruned = ("-" if share is None else f"{share:.2%}" for share in (row.unseen, row.unseen_pruned))
            types = "-" if row.held_out_types is None else str(row.held_out_types)
            rows.append((row.transform, row.tags, types, str(row.n_types), unseen, str(row.n_repeated_types), pruned))
        lines = [
            f"training  {self.n_sentences:>7,} sentences {self.n_words:>9,} words",
            f"held out  {self.held_out_sentences:>7,} sentences {self.held_out_words:>9,} words",
            f"grammar   {self.n_nonterminals} nonterminals, {self.n_tags} tags, "
            f"{self.n_chains:,} chains, {self.n_triples:,} triples (transformed trees)",
            "",
            f"Chains longer than {SHORT_CHAIN}, tag counted, root {'counted' if self.with_top else 'not counted'}; "
            "unseen: held-out words whose chain is not in the grammar",
            "",
            *_aligned([header, *rows]),
        ]
        if self.coverage:
            shares = [("chains kept", "derived", "missing a chain", "missing a triple")]
            for one in self.coverage:
                kept = "all" if one.chain_min_count == 1 else f"long ones seen {one.chain_min_count}+ times"
                shares.append((kept, f"{one.derived:.1%}", f"{one.missing_chain:.1%}", f"{one.missing_triple:.1%}"))
            lines += ["", "Held-out sentences and the strict grammar (transformed trees)", "", *_aligned(shares)]
        return "\n".join(lines)


def grammar_table(
    train_trees: Sequence[Tree],
    held_out_trees: Sequence[Tree] | None = None,
    *,
    train_tags: Tags | None = None,
    held_out_tags: Tags | None = None,
    with_top: bool = False,
    chain_min_count: int = 2,
    triple_min_count: int = 1,
) -> GrammarTable:
    """Count chains in normalized trees, with and without the left-corner transform, and those that held-out trees miss.

    With `train_tags` and `held_out_tags` (one sequence of tags per tree), there are also rows for these tags, and the
    coverage is that of the given tags. `with_top` counts the root in the chain of the first word, as the paper does.
    Long chains are pruned if they were seen less than `chain_min_count` times; all columns are shown next to those of
    the unpruned grammar.
    """
    held_out_trees = held_out_trees or []
    sources = [("gold", train_trees, held_out_trees)]
    if train_tags is not None or held_out_tags is not None:
        pairs = (train_trees, train_tags), (held_out_trees, held_out_tags)
        retagged = [trees if tags is None else list(map(retag, trees, tags)) for trees, tags in pairs]
        sources.append(("given", retagged[0], retagged[1]))
    rows = [_chain_row("none", *source, with_top, chain_min_count) for source in sources]
    sources = [(name, list(map(transform, train)), list(map(transform, held))) for name, train, held in sources]
    rows += [_chain_row("left corner", *source, with_top, chain_min_count) for source in sources]
    _, train, held_out = sources[-1]
    grammar = Grammar.from_trees(train, triple_min_count=triple_min_count)
    pruned = grammar.without_rare_chains(chain_min_count)
    return GrammarTable(
        n_sentences=len(train),
        n_words=sum(tree.end for tree in train),
        held_out_sentences=len(held_out),
        held_out_words=sum(tree.end for tree in held_out),
        n_nonterminals=len(grammar.nonterminals),
        n_tags=len(grammar.tags),
        n_chains=sum(map(len, grammar.chains)),
        n_triples=len(grammar.triples),
        with_top=with_top,
        chain_min_count=chain_min_count,
        rows=tuple(rows),
        coverage=(_coverage(grammar, held_out), _coverage(pruned, held_out)) if held_out else (),
    )


def _chain_row(
    name: str, tags: str, train: Sequence[Tree], held_out: Sequence[Tree], with_top: bool, min_count: int
) -> ChainRow:
    """Count one row: the treebank's chain types, and the held-out words whose chain is not among them."""
    types = _count_chain_types(train, with_top)
    held_out_types = _count_chain_types(held_out, with_top)
    repeated = {chain for chain, count in types.items() if count >= min_count}
    kept = {chain for chain in types if chain in repeated or not _is_long(chain)}
    counts = sum(map(_is_long, types)), sum(map(_is_long, repeated))
    if not held_out:
        return ChainRow(name, tags, *counts)
    unseen = [
        sum(count for chain, count in held_out_types.items() if chain not in known) / held_out_types.total()
        for known in (types, kept)
    ]
    return ChainRow(name, tags, *counts, sum(map(_is_long, held_out_types)), *unseen)


def _count_chain_types(trees: Sequence[Tree], with_top: bool) -> Counter[ChainType]:
    counts: Counter[ChainType] = Counter()
    for tree in trees:
        chains = [(*move.chain, tag) for move, tag in zip(derivation(tree), tree.tags, strict=True)]
        if with_top:
            chains[0] = (tree.label, *chains[0])
        counts.update(chains)
    return counts


def _is_long(chain: ChainType) -> bool:
    return len(chain) > SHORT_CHAIN


def _coverage(grammar: Grammar, held_out: Sequence[Tree]) -> Coverage:
    missing = [grammar.missing(tree) for tree in held_out]
    return Coverage(
        chain_min_count=grammar.chain_min_count,
        derived=missing.count((False, False)) / len(missing),
        missing_chain=sum(chain for chain, _ in missing) / len(missing),
        missing_triple=sum(triple for _, triple in missing) / len(missing),
    )


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align cells in columns: names to the left, columns with numbers below the header to the right."""
    columns = []
    for cells in zip(*rows, strict=True):
        width, is_text = max(map(len, cells)), cells[1][0].isalpha()
        columns.append([cell.ljust(width) if is_text else cell.rjust(width) for cell in cells])
    return ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
