"""A naive EVALB: brackets are sets of words, everything is compared with everything; and a reader for test trees."""

import re

from spacy_incparse.evaluation.brackets import COLLINS
from spacy_incparse.trees.builder import TreeBuilder


def tree_of(line):
    """Return the tree of a one-line bracket string, spelled as it stands."""
    builder = TreeBuilder()
    for label, word, closing in re.findall(r"\(([^\s()]*)(?:\s+([^\s()]+)\s*\))?|(\))", line):
        if closing:
            builder.close()
        elif word:
            builder.leaf(label, word)
        else:
            builder.open(label)
    return builder.finish()


def score_pair(gold, parsed, params=COLLINS, as_evalb=False):
    """Return (length, status, matched, gold, parsed, crossing, words, correct tags) of one sentence."""
    gold_tags, parsed_tags = gold.tags, parsed.tags
    length = len([tag for tag in gold_tags if tag not in params.delete_labels_for_length])
    left_gold = [i for i, tag in enumerate(gold_tags) if tag not in params.delete_labels]
    deleting_tags = parsed_tags if as_evalb else gold_tags
    left_parsed = [i for i, tag in enumerate(deleting_tags) if tag not in params.delete_labels]
    if not left_parsed:
        return (length, 2, 0, 0, 0, 0, 0, 0)
    gold_words = [gold.words[i] for i in left_gold]
    if gold_words != [parsed.words[i] for i in left_parsed]:
        return (length, 1, 0, 0, 0, 0, 0, 0)
    gold_brackets = _brackets(gold, left_gold, params)
    parsed_brackets = _brackets(parsed, left_parsed, params)
    return (
        length,
        0,
        _matched(gold_brackets, parsed_brackets, params),
        len(gold_brackets),
        len(parsed_brackets),
        sum(any(_cross(g, p) for _, g in gold_brackets) for _, p in parsed_brackets),
        len(left_gold),
        sum(_equal(gold_tags[g], parsed_tags[p], params) for g, p in zip(left_gold, left_parsed, strict=True)),
    )


def _brackets(tree, left, params):
    found = []
    for node in tree.preorder():
        words = {left.index(i) for i in range(node.start, node.end) if i in left}
        label = re.split("[-=]", node.label)[0]
        if node.children and words and not any(_equal(label, deleted, params) for deleted in params.delete_labels):
            found.append((label, words))
    return found


def _matched(gold, parsed, params):
    used = []
    for label, words in gold:
        for j, (other, other_words) in enumerate(parsed):
            if j not in used and words == other_words and (not params.labeled or _equal(label, other, params)):
                used.append(j)
                break
    return len(used)


def _cross(a, b):
    return bool(a & b) and bool(a - b) and bool(b - a)


def _equal(a, b, params):
    return a == b or (a, b) in params.eq_labels or (b, a) in params.eq_labels
