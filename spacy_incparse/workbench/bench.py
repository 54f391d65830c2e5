"""The sentences of a file while they are edited: what is known of each, what an action does, and what is on disk."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any
from zlib import crc32

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.summaries import Agreement
from spacy_incparse.patterns.pattern import compile
from spacy_incparse.repair.relabelling import numbered_phrases
from spacy_incparse.repair.repair import Rule, repair_tree
from spacy_incparse.trees.arrays import Phrase, TreeArrays, children
from spacy_incparse.trees.forest import Forest
from spacy_incparse.trees.labels import TRACE_TAG, WRAPPERS, bare_label
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.page import Comparison, compare
from spacy_incparse.workbench.edits import RETOKENIZING, TRACING, Forbidden, edited, learned, node_of, words_and_tags
from spacy_incparse.workbench.journal import Journal
from spacy_incparse.workbench.proposals import N_ALTERNATIVES, Proposer, Wanted
from spacy_incparse.workbench.sources import Source, checksum

Place = tuple[int, int]
"""Where a phrase stands in pre-order: its first word, and the negative of where it ends."""
_NOWHERE = (-1, 0)  # before all phrases
_MOST_TRIES = 4
BEHIND, WITHOUT, INSIDE = HOW = ("behind", "without", "inside")
UNTOUCHED, PROPOSED, CORRECTED, DOUBTFUL = STATES = ("untouched", "proposed", "corrected", "doubtful")
ORDERS = ("text", "length", "confidence")
ENOUGH = 500  # local trees, to call another one unheard of
_NO_CORRECTION = frozenset(["accept", "undo", "redo", "comment", "doubt"])


class ConflictError(IncparseError):
    """An action on a version of a sentence that is no longer the last one."""


@dataclass(frozen=True)
class Snapshot:
    """A sentence at one moment. required, forbidden, tags: what a person has said; see `proposals.Wanted`."""

    brackets: str
    state: str = UNTOUCHED
    required: Sequence[Phrase] = ()
    forbidden: Sequence[Forbidden] = ()
    tags: Mapping[int, str] = field(default_factory=dict)
    comment: str = ""
    is_accepted: bool = False

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Snapshot:
        """Return the snapshot that was written as JSON, in which keys are texts, and tuples lists."""
        phrases = {name: tuple(map(tuple, found[name])) for name in ("required", "forbidden")}
        return cls(**{**found, **phrases, "tags": {int(i): tag for i, tag in found["tags"].items()}})

    @property
    def tree(self) -> Tree:
        """The tree, as published in the treebank."""
        return Tree.from_string(self.brackets)

    @property
    def wanted(self) -> Wanted:
        """What a person has said of the sentence."""
        return Wanted(words_and_tags(self.tree)[0], self.required, self.forbidden, self.tags)


@dataclass
class _History:
    snapshots: list[Snapshot]
    at: int = 0  # the number of the snapshot that counts
    n_actions: int = 0
    n_corrections: int = 0  # actions that changed the tree

    @property
    def now(self) -> Snapshot:
        return self.snapshots[self.at]


class Bench:
    """A file that is edited. All methods are called by one thread.

    source: the file. proposer: what proposes trees. rules: of `repair`, for hints. second: another annotator's file of
    the same sentences. Raises
    IncparseError if the journal or the second file is about other sentences.
    """

    def __init__(
        self, source: Source, proposer: Proposer, journal: Journal, *, rules: Sequence[Rule] = (),
        second: Source | None = None,
    ):  # fmt: skip
        self.source, self.proposer, self.journal, self.rules, self.second = source, proposer, journal, rules, second
        self.accepted = dict[int, None]()  # the sentences, in the order in which they were accepted last
        self.effort: list[tuple[int, int]] = []  # the words and corrections of each, when it was accepted first
        self.weakest: dict[int, float] = {}  # the probability of the weakest phrase of a sentence, where it is known
        self._histories: dict[int, _History] = {}
        self._proposals: dict[int, Snapshot] = {}
        self._labels, self._tags, self._local_trees, self._n_counted = Counter[str](), Counter[str](), Counter[Any](), 0
        if second is not None and len(second) != len(source):
            what = f"has {len(second):,} trees, and {source.path} {len(source):,} sentences"
            raise IncparseError(f"{second.path} {what}: name a file with a tree for each sentence")
        known = [record["file"] for record in journal.records if "file" in record]
        if not known:
            journal.append({"file": source.checksum})
        elif source.checksum not in known:
            what = f"{source.target} is not the file that {journal.path} is about: it was changed elsewhere"
            raise IncparseError(f"{what}. Restore it, or move the journal away to begin with the file as it is now")
        for number, record in enumerate(journal.records, start=1):
            if "s" in record:
                self._replay(record, f"{journal.path}:{number}")
        journal.records.clear()

    # What is known of a sentence

    def state(self, i: int) -> str:
        """Return the state of a sentence."""
        known = self._histories.get(i)
        return known.now.state if known else PROPOSED if i in self._proposals else UNTOUCHED

    def comment(self, i: int) -> str:
        """Return the comment on a sentence."""
        return self._histories[i].now.comment if i in self._histories else ""

    def snapshot(self, i: int) -> Snapshot:
        """Return a sentence as it is now, with the tree of the file or of the parser if nobody has changed it.

        Raises IncparseError if there is no such sentence.
        """
        if not 0 <= i < len(self.source):
            raise IncparseError(f"there is no sentence {i + 1}: the file has {len(self.source):,}")
        if i in self._histories:
            return self._histories[i].now
        tree = self.source.tree(i)
        if tree is None and i not in self._proposals:
            self._proposals[i] = Snapshot(str(self.proposer.propose(Wanted(self.source.words(i)))), PROPOSED)
        return self._proposals[i] if tree is None else Snapshot(str(tree))

    def tree(self, i: int) -> Tree:
        """Return the tree of a sentence as it is now."""
        return self.snapshot(i).tree

    def version(self, i: int) -> str:
        """Return the version of a sentence, which each action changes."""
        brackets, known = self.snapshot(i).brackets, self._histories.get(i)
        return f"{known.n_actions if known else 0}.{crc32(brackets.encode('utf-8', 'surrogatepass')):08x}"

    def use(self, proposer: Proposer) -> None:
        """Propose trees with another parser from now on."""
        self.proposer = proposer
        self._proposals.clear()
        self.weakest.clear()

    # Actions

    def act(self, i: int, version: str, action: Mapping[str, Any]) -> None:
        """Do an action on a sentence; it is on disk when this returns.

        Raises ConflictError if the sentence has another version by now, and IncparseError, saying why, if the action is
        impossible.
        """
        now, do, known = self.snapshot(i), action.get("do"), self._histories.get(i)
        if version != self.version(i):
            raise ConflictError(f"sentence {i + 1} was changed in the meantime, perhaps in another window: look again")
        record: dict[str, Any] = {"s": i, "do": dict(action), "t": round(time.time(), 1)}
        if do in ("undo", "redo"):
            n_left = 0 if known is None else known.at if do == "undo" else len(known.snapshots) - 1 - known.at
            if not n_left:
                raise IncparseError(f"there is nothing to {do}")
        elif do not in _NO_CORRECTION and (why := self.source.fixed(i)):
            raise IncparseError(why)
        else:
            record |= {"new": asdict(self._after(now, action))} | ({} if known else {"old": asdict(now)})
        self.journal.append(record)
        self._replay(record)

    def _replay(self, record: Mapping[str, Any], place: str = "") -> None:
        i, do = record["s"], record["do"]["do"]
        if i not in self._histories:
            old = Snapshot.of_json(record["old"])
            if place and (i >= len(self.source) or "".join(old.wanted.words) != "".join(self._own_words(i))):
                raise IncparseError(f"{place}: it is about another sentence {i + 1}: was {self.source.path} changed?")
            self._histories[i] = _History([old])
        known = self._histories[i]
        was_accepted = known.now.is_accepted
        known.n_actions += 1
        known.n_corrections += do not in _NO_CORRECTION
        if do in ("undo", "redo"):
            known.at += 1 if do == "redo" else -1
        else:
            known.snapshots[known.at + 1 :] = [Snapshot.of_json(record["new"])]
            known.at += 1
        self.weakest.pop(i, None)
        if not known.now.is_accepted:
            self.accepted.pop(i, None)
        elif not was_accepted:
            if do == "accept":
                self.effort.append((len(self._own_words(i)), known.n_corrections))
            self.accepted[i] = None
            self.proposer.learn(*words_and_tags(known.now.tree))

    def _own_words(self, i: int) -> Sequence[str]:
        tree = self.source.tree(i)
        return self.source.words(i) if tree is None else words_and_tags(tree)[0]

    def _after(self, now: Snapshot, action: Mapping[str, Any]) -> Snapshot:
        """Return a sentence after an action."""
        do, tree = action.get("do"), now.tree
        state = now.state if now.state in (DOUBTFUL, CORRECTED) else CORRECTED if self.source.has_trees else PROPOSED
        if do == "accept":
            return replace(now, state=CORRECTED, is_accepted=True)
        if do == "doubt":
            usual = CORRECTED if now.is_accepted else PROPOSED
            return replace(now, state=usual if now.state == DOUBTFUL else DOUBTFUL)
        if do == "comment":
            return replace(now, comment=str(action.get("text", ""))[:10_000])
        if do == "confirm":
            node = node_of(tree.arrays, action)
            inside = range(node, node + tree.arrays.sizes[node])
            new = [phrase for k, phrase in numbered_phrases(tree) if k in inside]
            words = range(tree.arrays.starts[node], tree.arrays.ends[node]) if TRACE_TAG not in tree.tags else ()
            kept = [one for one in now.required if one not in new]
            return replace(now, required=[*kept, *new], tags={**now.tags, **{k: tree.tags[k] for k in words}})
        if do == "parse":
            if TRACE_TAG in tree.tags:
                raise IncparseError("the parser's trees have no traces: delete these first, to parse anew")
            return replace(now, brackets=str(self._parsed(now)), state=state)
        if do in (*RETOKENIZING, *TRACING) and not self.source.can_retokenize:
            raise IncparseError(f"the words are those of {self.source.path.name}, whose format fixes them")
        new_tree = edited(tree, action) if do != "choose" else Tree.from_string(str(action.get("tree")))
        if do == "choose" and words_and_tags(new_tree)[0] != words_and_tags(tree)[0]:
            raise IncparseError("this tree has other words")
        after = replace(now, state=state, brackets=str(new_tree))
        if do in RETOKENIZING:
            place = sum(tag != TRACE_TAG for tag in tree.tags[: tree.arrays.starts[action["node"]]])
            return _shifted(after, place, 1 if do == "split" else -1)
        required, forbidden = learned(tree, new_tree, now.required, now.forbidden)
        old_tags, tags = words_and_tags(tree)[1], words_and_tags(new_tree)[1]
        changed = [k for k, (old, new) in enumerate(zip(old_tags, tags, strict=True)) if old != new]
        said = {**now.tags, **{k: tags[k] for k in changed}}
        after = replace(after, required=required, forbidden=forbidden, tags=said)
        # A new phrase tells the parser more than it takes from it: after other edits, new trees have more errors.
        is_new = do == "wrap" and not (self.source.has_trees or now.is_accepted)
        if not action.get("parse", is_new) or TRACE_TAG in new_tree.tags:
            return after
        changes = map(_place, [*_new(tree, new_tree), *_new(new_tree, tree)])
        first = min([*changes, *((k, -len(tags) - 1) for k in changed)], default=_NOWHERE)
        return replace(after, brackets=str(self._parsed(after, new_tree, first)))

    def _parsed(self, now: Snapshot, otherwise: Tree | None = None, place: Place = _NOWHERE) -> Tree:
        """Return the parser's tree with all that a person has said, and all that is before a place, where the person
        has come to; `otherwise` if there is none.
        """  # fmt: skip
        tree, wanted = now.tree, _settled(now, place)
        for _ in range(_MOST_TRIES):
            found = self.proposer.propose(wanted, otherwise)
            if found is otherwise:
                break
            new = [phrase for phrase in _new(found, tree) if _place(phrase) < place]
            if not new:
                return _styled(found, tree)
            wanted = replace(wanted, forbidden=[*wanted.forbidden, *new])
        return tree if otherwise is None else otherwise

    # Help

    def alternatives(self, i: int, node: int = 0, how: str = BEHIND) -> list[Tree]:
        """Return up to nine other trees of a sentence, best first, which have all that a person has said.

        how: "behind": all before a node, in pre-order, stays; "without": the phrase of the node goes, too; "inside":
        only the phrases in the node change.
        """
        now = self.snapshot(i)
        tree, node = now.tree, node_of(now.tree.arrays, {"node": node})
        if TRACE_TAG in tree.tags:
            raise IncparseError("the parser's trees have no traces: delete these first, to see alternatives")
        start, end, size = tree.arrays.starts[node], tree.arrays.ends[node], tree.arrays.sizes[node]

        def is_free(phrase: Phrase) -> bool:
            return start <= phrase[1] and phrase[2] <= end if how == INSIDE else _place(phrase) >= place

        place = (start, -end) if node else _NOWHERE
        wanted = _settled(now, place)
        if how == WITHOUT and size > 1 and node:
            wrong = (bare_label(tree.arrays.labels[node]), start, end)
            kept = [one for one in wanted.required if one != wrong]
            wanted = replace(wanted, required=kept, forbidden=[*wanted.forbidden, wrong])
        elif how == INSIDE:
            around = [phrase for k, phrase in numbered_phrases(tree) if not node <= k < node + size]
            own = [one for one in now.required if start <= one[1] and one[2] <= end]
            tags = {k: tag for k, tag in enumerate(tree.tags) if not start <= k < end}
            wanted = replace(now.wanted, required=[*around, *own], tags={**tags, **now.tags})
        elif how not in HOW:
            raise IncparseError(f"how is {how!r:.40}: choose from {HOW}")
        others = (_styled(one, tree) for one in self.proposer.alternatives(wanted))
        found = (one for one in others if one != tree and all(map(is_free, _new(one, tree))))
        return list(dict.fromkeys(found))[:N_ALTERNATIVES]

    def confidences(self, i: int) -> dict[int, float]:
        """Return the probability of each phrase of a sentence, by node; {} if the parser knows none."""
        now = self.snapshot(i)
        known = self.proposer.confidences(now.wanted)
        found = {node: known.get(phrase, 0.0) for node, phrase in numbered_phrases(now.tree)} if known else {}
        self.weakest[i] = min(found.values(), default=1.0)
        return found

    def hints(self, i: int) -> list[dict[str, Any]]:
        """Return the likely slips: what a rule of `repair` would change, and local trees that were never seen."""
        tree, found = self.tree(i), list[dict[str, Any]]()
        for rule in self.rules:
            try:
                changes = repair_tree(tree, [rule])[1]
            except IncparseError:
                continue
            found += [{"node": one.node, "what": f"{rule.name}: {rule.reason}"} for one in changes[:1]]
        has_many = self._local_trees.total() >= ENOUGH
        here = Counter(local for _, local in local_trees(tree)) if i < self._n_counted else Counter[Any]()
        for node, local in local_trees(tree):
            is_told = has_many or (self.proposer.local_trees and len(local) <= 3)
            if is_told and local not in self.proposer.local_trees and self._local_trees[local] <= here[local]:
                found.append({"node": node, "what": f"{local[0]} -> {' '.join(local[1:])} was never seen"})
        return found

    def count(self, most: int) -> bool:
        """Count labels and local trees of so many more trees of the file; return whether some are left."""
        behind = min(self._n_counted + most, len(self.source)) if self.source.has_trees else 0
        for i in range(self._n_counted, behind):
            self._count(self.tree(i), self._labels, self._tags)
            self._local_trees.update(local for _, local in local_trees(self.tree(i)))
        self._n_counted = behind
        return 0 < behind < len(self.source)

    @staticmethod
    def _count(tree: Tree, labels: Counter[str], tags: Counter[str]) -> None:
        for label, size in zip(tree.arrays.labels, tree.arrays.sizes, strict=True):
            (tags if size == 1 else labels)[label] += 1

    def names(self) -> dict[str, list[str]]:
        """Return the labels and tags for completion, the most frequent first."""
        labels, tags = Counter(self._labels), Counter(self._tags)
        for known in self._histories.values():
            self._count(known.now.tree, labels, tags)
        found = {"labels": [*labels, *self.proposer.labels], "tags": [*tags, *self.proposer.tags]}
        counts = labels + tags
        return {key: sorted({*names} - {""}, key=lambda name: (-counts[name], name)) for key, names in found.items()}

    # Lists, the second annotator, the file

    def listed(self, order: str = "text", pattern: str = "", state: str = "") -> list[int]:
        """Return the numbers of sentences. Raises PatternError for a wrong pattern, IncparseError for other orders."""
        if order not in ORDERS or state not in ("", *STATES):
            raise IncparseError(f"order {order!r:.40}, state {state!r:.40}: choose from {ORDERS} and {STATES}")
        found: Any = range(len(self.source))
        if pattern.strip():
            query, own = compile(pattern), sorted({*self._histories, *self._proposals})
            ours = {own[match.number] for match in query.search(Forest([self.tree(i) for i in own]))}
            found = sorted(ours | ({match.number for match in query.search(self.source.forest)} - set(own)))
        found = [i for i in found if not state or self.state(i) == state]
        if order == "length":
            return sorted(found, key=lambda i: (self.source.lengths[i], i))
        return sorted(found, key=lambda i: (self.weakest.get(i, 2.0), i)) if order == "confidence" else found

    def weigh(self, most: int) -> bool:
        """Find the confidence of a few more sentences that nobody has accepted; return whether some are left."""
        rest = (i for i in range(len(self.source)) if i not in self.weakest and self.state(i) != CORRECTED)
        found = list(islice(rest, most))
        for i in found:
            self.confidences(i)
        return bool(found)

    def beside(self, i: int) -> tuple[Tree, Comparison] | None:
        """Return the second annotator's tree and its comparison with ours; None if there is none, or not the words."""
        other = self.second.tree(i) if self.second else None
        try:
            return None if other is None else (other, compare(other, self.tree(i)))
        except IncparseError:
            return None

    def agreement(self) -> tuple[float, int]:
        """Return F between this file and the second, and the number of sentences compared: those that were edited."""
        pairs = [self.beside(i) for i, known in sorted(self._histories.items()) if known.now.state == CORRECTED]
        counts = [one[1].agreement for one in pairs if one]
        return Agreement(*map(sum, zip(*counts, strict=True))).f if counts else 0.0, len(counts)

    def save(self) -> int:
        """Write the file with all trees that were edited, or accepted if it had none; return how many these are.

        It is written completely, or stays as it is. Raises IncparseError if another program has changed it meanwhile.
        """
        known = self._histories.items()
        changed = {i: one.now.tree for i, one in known if self.source.has_trees or one.now.is_accepted}
        if changed:
            if checksum(self.source.target) != self.source.checksum:
                what = "was changed by another program since it was opened here, and is not overwritten"
                raise IncparseError(f"{self.source.target} {what}: move it away, and save again")
            data = self.source.dump(changed, {i: one.now.comment for i, one in known})
            digest = hashlib.sha256(data).hexdigest()
            if digest != self.source.checksum:
                self.journal.append({"file": digest})  # before it is written: after a crash, either may be found
                self.source.write(data)
        return len(changed)


def _place(phrase: Phrase) -> Place:
    return phrase[1], -phrase[2]


def _settled(now: Snapshot, place: Place) -> Wanted:
    """Return what a person has said of a sentence, with all of its tree that stands before a place."""
    tree, wanted = now.tree, now.wanted
    before = [phrase for _, phrase in numbered_phrases(tree) if _place(phrase) < place]
    tags = {**dict(enumerate(tree.tags[: max(place[0], 0)])), **wanted.tags}
    return replace(wanted, required=list(dict.fromkeys([*before, *wanted.required])), tags=tags)


def _new(found: Tree, tree: Tree) -> list[Phrase]:
    """Return the phrases of a tree that another one lacks."""
    ours, theirs = (Counter(phrase for _, phrase in numbered_phrases(one)) for one in (found, tree))
    return [*(ours - theirs)]


def _shifted(after: Snapshot, place: int, step: int) -> Snapshot:
    """Return a sentence whose word at a place was split or joined, with all that a person has said of it."""

    def moved(one: Any) -> Any:
        return (one[0], one[1] + step * (one[1] > place), one[2] + step * (one[2] > place))

    spans = {phrase for _, phrase in numbered_phrases(after.tree)}
    return replace(
        after,
        required=[moved(one) for one in after.required if moved(one) in spans],
        forbidden=[moved(one) for one in after.forbidden if moved(one)[1] < moved(one)[2]],
        tags={k + step * (k > place): tag for k, tag in after.tags.items()},
    )


def _styled(found: Tree, tree: Tree) -> Tree:
    """Return a parser's tree with the root of another, and its function tags where both have a phrase."""
    full = {phrase: tree.arrays.labels[node] for node, phrase in numbered_phrases(tree)}
    labels = list(found.arrays.labels)
    for node, phrase in numbered_phrases(found):
        labels[node] = full.pop(phrase, labels[node])
    labels[0] = tree.label if tree.label in WRAPPERS else labels[0]
    whole = Tree(TreeArrays.of(labels, found.arrays.sizes, found.arrays.words))
    return whole if tree.label in WRAPPERS or len(whole.children) > 1 else Tree(whole[0].own_arrays)


def local_trees(tree: Tree) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield each phrase with its label and those of its children, without functions."""
    arrays = tree.arrays
    for node, size in enumerate(arrays.sizes):
        if size > 1:
            yield node, tuple(bare_label(arrays.labels[k]) for k in (node, *children(arrays, node)))
