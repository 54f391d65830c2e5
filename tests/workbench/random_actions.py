"""Random actions of a person on a tree: most are possible, some are not."""

from spacy_incparse.workbench.bench import Bench
from spacy_incparse.workbench.edits import words_and_tags
from spacy_incparse.workbench.journal import Journal, journal_path
from spacy_incparse.workbench.proposals import Proposer
from spacy_incparse.workbench.sources import Source

TREES = """\
# a comment (with a bracket
( (S (NP-SBJ-1 (DT The) (NN kettle))
     (VP (VBD seemed)
         (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB sing) (PP (IN on) (NP (DT the) (NN stove)))))))
     (. .)) )

(TOP (S (NP (PRP We)) (VP (VBP like) (NP (NP (NNS plums)) (CC and) (NP (JJ ripe) (NNS pears)))) (. .)))
(S (NP (NN Rain)) (VP (VBZ falls) (ADVP (RB softly))))
((FRAG (-LRB- -LRB-) (NP (NN why)) (-RRB- -RRB-) (. ?)))
(TOP (`` ``) (INTJ (UH Oh)) ('' ''))
(NN alone)
"""
LINES = ("the old boat leaks again", "nobody mends it", "rain", "שלום לכל הילדים", "他 喜欢 红 茶")
LABELS = ("S", "NP", "VP", "PP", "NP-SBJ", "X=2", "S-TPC-1", "-NONE-", "", "a b", "(NP")
KINDS = (
    *("relabel", "wrap", "dissolve", "move") * 4,
    *("split", "join", "trace", "coindex", "delete", "confirm", "parse", "accept", "doubt", "comment") * 2,
    *("undo", "redo") * 5, "choose", "nonsense", None,
)  # fmt: skip


def branching():
    return Proposer(["N", "V"], ["XP", "S"])


def opened(folder, kind="brackets", **settings):
    """Return the bench of a small file, which is written unless it exists."""
    path = folder / ("own.mrg" if kind == "brackets" else "own.txt")
    if not path.exists():
        path.write_text(TREES if kind == "brackets" else "\n".join(LINES), encoding="utf8")
    source = Source(path) if kind == "brackets" else Source(path, list(map(str.split, LINES)))
    journal = Journal(journal_path(source.target))
    try:
        return Bench(source, branching(), journal, **settings)
    except BaseException:
        journal.close()
        raise


def random_action(chance, bench, i):
    tree = bench.tree(i)

    def node():
        return chance.randrange(-1, tree.size + 1) if chance.random() < 0.05 else chance.randrange(tree.size)

    do, label = chance.choice(KINDS), chance.choice(LABELS)
    action = {"do": do, "node": node(), "label": label, "first": node(), "last": node(), "to": node()}
    action |= {"at": chance.randrange(4), "type": chance.choice(["*T*", "0", "*"]), "text": "a note"}
    if chance.random() < 0.5:
        action |= {"parse": chance.random() < 0.5, "force": chance.random() < 0.5}
    if do == "coindex" and chance.random() < 0.3:
        action["to"] = None
    if do == "choose":
        found = bench.proposer.alternatives(bench.snapshot(i).wanted)
        action["tree"] = str(chance.choice(found))
    return action


def letters(bench, i):
    """Return all words of a sentence, whatever the traces and where the tokens end."""
    return "".join(words_and_tags(bench.tree(i))[0])


def seen(bench):
    """Return all that a person sees of each sentence."""
    return [(bench.version(i), bench.snapshot(i)) for i in range(len(bench.source))]
