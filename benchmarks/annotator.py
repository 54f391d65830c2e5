"""Measure how many actions a simulated annotator needs for the trees of a treebank, with and without the workbench.

    python benchmarks/annotator.py wsj/dev.mrg --model en --number 300 --shortest 10
    python benchmarks/annotator.py id/train.mrg --model none --lang id --learn 50,900 --number 100

The annotator repairs the leftmost error of a tree by the action that leaves the fewest errors, until the tree is that
of the treebank. `by hand` corrects the parser's tree; `parsed again` lets the parser find the rest anew after each new
phrase; `with alternatives` also chooses one of the nine trees that keys `b` or `x` show at the error, where it leaves
fewer errors. An action is one command of the page: an edit may move many brackets. One phrase at a time, as in
Sanchez-Saez et al. (2009), each phrase that is missing, too much or wrong takes one. With --learn, parsers that learn
from so many first trees are compared on the sentences after the last of these.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from spacy_incparse.errors import IncparseError
from spacy_incparse.repair.relabelling import numbered_phrases
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.arrays import Phrase, children
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workbench.bench import Bench
from spacy_incparse.workbench.edits import edited
from spacy_incparse.workbench.journal import Journal, journal_path
from spacy_incparse.workbench.learning import Learning
from spacy_incparse.workbench.models import Model
from spacy_incparse.workbench.proposals import Proposer
from spacy_incparse.workbench.sources import Source

MOST_ACTIONS, MOST_WORDS = 300, 10_000  # of one sentence
BY_HAND, PARSED_AGAIN, WITH_ALTERNATIVES = "by hand", "parsed again", "with alternatives"
Action = dict[str, Any]


def phrases_of(tree: Tree) -> Counter[Phrase]:
    """Return the phrases below the root."""
    return Counter(phrase for _, phrase in numbered_phrases(tree))


def n_errors(tree: Tree, gold: Tree) -> int:
    """Return how many phrases are missing or too many, and how many tags are wrong; a wrong label is one error."""
    have, want = phrases_of(tree), phrases_of(gold)
    extra, missing = list((have - want).elements()), list((want - have).elements())
    relabelled = Counter(one[1:] for one in extra) & Counter(one[1:] for one in missing)
    n_tags = sum(a != b for a, b in zip(tree.tags, gold.tags, strict=True))
    return len(extra) + len(missing) - relabelled.total() + n_tags


def candidates(tree: Tree, gold: Tree) -> tuple[list[Action], list[Action]]:
    """Return the actions that may repair the leftmost error, and those to fall back upon."""
    have, want = phrases_of(tree), phrases_of(gold)
    extra, missing = have - want, want - have
    errors = sorted([*extra, *missing], key=lambda one: (one[1], -one[2]))
    wrong = [k for k, (a, b) in enumerate(zip(tree.tags, gold.tags, strict=True)) if a != b]
    if wrong and (not errors or wrong[0] <= errors[0][1]):
        return [{"do": "relabel", "node": tree.arrays.leaves[wrong[0]], "label": gold.tags[wrong[0]]}], []
    if not errors:
        return [], []
    first = errors[0]
    nodes = {phrase: node for node, phrase in numbered_phrases(tree)}
    found: list[Action] = []
    if first in extra:
        found.append({"do": "dissolve", "node": nodes[first]})
        found += [{"do": "relabel", "node": nodes[first], "label": one[0]} for one in missing if one[1:] == first[1:]]
    else:
        leaves = tree.arrays.leaves
        wrap = {"do": "wrap", "first": leaves[first[1]], "last": leaves[first[2] - 1], "label": first[0]}
        found += [wrap, {**wrap, "force": True}]
        same = [one for one in extra if one[1:] == first[1:]]
        found += [{"do": "relabel", "node": nodes[one], "label": first[0]} for one in same]
    crossing = [one for one in extra if one[1] < first[2] and one[2] > first[1]]
    return found + list(moves(tree, first)), [{"do": "dissolve", "node": nodes[one]} for one in crossing]


def moves(tree: Tree, error: Phrase) -> Iterator[Action]:
    """Yield the moves of words and phrases at the edges of an erroneous phrase to where their neighbours are."""
    arrays = tree.arrays
    for node in range(2, len(arrays.sizes)):
        if not {arrays.starts[node], arrays.ends[node]} & {error[1], error[2]}:
            continue
        above, targets = arrays.parents[node], list[int]()
        while arrays.parents[above] > 0:
            above = arrays.parents[above]
            targets.append(above)
        siblings = list(children(arrays, arrays.parents[node]))
        place = siblings.index(node)
        for sister, side in ((place - 1, -1), (place + 1, 0)):
            if not 0 <= sister < len(siblings):
                continue
            below = siblings[sister]
            while arrays.sizes[below] > 1:
                targets.append(below)
                below = list(children(arrays, below))[side]
        yield from ({"do": "move", "node": node, "to": to} for to in targets)


def best_action(tree: Tree, gold: Tree) -> Action:
    """Return the action that repairs the leftmost error and leaves the fewest others."""
    for actions in candidates(tree, gold):
        ranked = []
        for number, action in enumerate(actions):
            try:
                ranked.append((n_errors(edited(tree, action), gold), number))
            except IncparseError:
                continue
        if ranked and (actions[0]["do"] == "relabel" or min(ranked)[0] < n_errors(tree, gold)):
            return actions[min(ranked)[1]]
    raise IncparseError("no action repairs the tree")


def best_alternative(bench: Bench, i: int, gold: Tree) -> Action | None:
    """Return the choice of the alternative with the fewest errors, given that all before the leftmost one is right."""
    tree = bench.tree(i)
    have, want = phrases_of(tree), phrases_of(gold)
    extra = have - want
    places = [(phrase[1], -phrase[2], phrase in extra) for phrase in (extra | (want - have))]
    places += [(k, -MOST_WORDS, False) for k, (a, b) in enumerate(zip(tree.tags, gold.tags, strict=True)) if a != b]
    start, end, is_extra = min(places)
    arrays = tree.arrays
    behind = (k for k in range(1, len(arrays.sizes)) if (arrays.starts[k], -arrays.ends[k]) >= (start, end))
    node = next(behind, 0)
    if is_extra:
        node = next(k for k, phrase in numbered_phrases(tree) if phrase in extra and phrase[1:] == (start, -end))
    found = bench.alternatives(i, node, "without" if is_extra else "behind")
    best = min(found, key=lambda one: n_errors(one, gold), default=None)
    return None if best is None else {"do": "choose", "tree": str(best)}


def correct(bench: Bench, i: int, gold: Tree, way: str, times: list[float]) -> Counter[str]:
    """Correct a sentence; return the numbers of actions of each kind."""
    counts = Counter[str]()
    while counts.total() < MOST_ACTIONS:
        tree = bench.tree(i)
        if n_errors(tree, gold) == 0:
            break
        action = best_action(tree, gold)
        n_left = n_errors(edited(tree, action), gold)
        if way == WITH_ALTERNATIVES:
            other = best_alternative(bench, i, gold)
            if other and n_errors(Tree.from_string(other["tree"]), gold) < n_left:
                action = other
        started = time.perf_counter()
        bench.act(i, bench.version(i), action | ({"parse": False} if way == BY_HAND else {}))
        times.append(time.perf_counter() - started)
        counts["tag" if action["do"] == "relabel" and tree.arrays.sizes[action["node"]] == 1 else action["do"]] += 1
    return counts


def measure(name: str, proposer: Proposer, trees: Sequence[Tree]) -> None:
    """Print the actions that a proposer's trees need."""
    n_by_hand = 0
    for way in (BY_HAND, PARSED_AGAIN, WITH_ALTERNATIVES):
        with tempfile.TemporaryDirectory() as folder:
            source = Source(Path(folder) / "text.txt", [tree.words for tree in trees])
            journal, times = Journal(journal_path(source.target)), list[float]()
            bench, counts = Bench(source, proposer, journal), Counter[str]()
            n_phrases = sum(n_errors(bench.tree(i), tree) for i, tree in enumerate(trees))
            for i, tree in enumerate(trees):
                counts += correct(bench, i, tree, way, times)
            journal.close()
        n_by_hand, n = n_by_hand or counts.total(), counts.total()
        fewer = [f"{1 - n / max(most, 1):.1%}" for most in (n_by_hand, n_phrases)]
        kinds = ", ".join(f"{kind} {number / len(trees):.2f}" for kind, number in counts.most_common())
        print(f"{name}, {way}: {n / len(trees):.2f} actions a sentence ({kinds})")
        print(f"    {fewer[0]} fewer than by hand, {fewer[1]} fewer than one phrase at a time; ", end="")
        print(f"an action takes {1000 * median(times or [0]):.1f} ms", flush=True)
    print(f"{name}, one phrase at a time: {n_phrases / len(trees):.2f} actions a sentence", flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one treebank."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebank", type=Path)
    parser.add_argument("--model", default="en")
    parser.add_argument("--number", type=int, default=150, help="sentences: the first ones")
    parser.add_argument("--learn", default="", help="with --model none: numbers of trees to learn from, such as 50,900")
    parser.add_argument("--lang", default="xx")
    parser.add_argument("--shortest", type=int, default=2, help="words")
    parser.add_argument("--longest", type=int, default=40)
    arguments = parser.parse_args(argv)
    trees = [
        tree for tree in read_treebank(arguments.treebank) if arguments.shortest <= len(tree.words) <= arguments.longest
    ]
    if arguments.model != "none":
        measure(arguments.model, Model(arguments.model), trees[: arguments.number])
        return
    sizes = list(map(int, arguments.learn.split(",")))
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            learning = Learning(Path(folder) / "model", None, lang=arguments.lang)
            learning.start_if_due(trees[:size], size)
            if not learning.wait():
                sys.exit(learning.error)
            test = trees[sizes[-1] :][: arguments.number]
            measure(f"learned from {size} trees", Model(str(learning.model)), test)


if __name__ == "__main__":
    main()
