"""Slow, plain writing and reading of the fields of a stored tree: the whole string is split by expressions first."""

import re

NODE = re.compile(r"\((?P<phrase>[^ ()]+)|(?P<leaf>[^ ()]+)(?P<closed>\)*)")
LEAF = re.compile(r"(?:\+([0-9]+)\.|([.,]))([0-9]+)")


def spell_nodes(labels, sizes):
    ends = [i + size for i, size in enumerate(sizes) if size > 1]
    nodes = [
        "(" + escape(label) if size > 1 else escape(label) + ")" * ends.count(i + 1)
        for i, (label, size) in enumerate(zip(labels, sizes, strict=True))
    ]
    return " ".join(nodes)


def scan_nodes(nodes):
    labels, starts, ends, path, n_words = [], [], {}, [], 0
    for i, node in enumerate(nodes.split(" ")):
        match = NODE.fullmatch(node)
        if not match or (i and not path):
            raise ValueError(nodes)
        starts.append(n_words)
        labels.append(unescape(match["phrase"] or match["leaf"]))
        path.append(i)
        if match["leaf"]:
            n_words += 1
            for _ in range(len(match["closed"]) + 1):
                if not path:
                    raise ValueError(nodes)
                ends[path.pop()] = i + 1, n_words
    if path:
        raise ValueError(nodes)
    sizes = [ends[i][0] - i for i in range(len(labels))]
    return tuple(labels), tuple(starts), tuple(ends[i][1] for i in range(len(labels))), tuple(sizes)


def spell_leaves(starts, ends, origin):
    pieces, before = [], origin
    for start, end in zip(starts, ends, strict=True):
        gap = start - before
        if gap < 0 or end < start:
            raise ValueError(f"text order: {start} to {end} after {before}")
        pieces.append(f"{'.,'[gap]}{end - start}" if gap < 2 else f"+{gap}.{end - start}")
        before = end
    return "".join(pieces)


def scan_leaves(leaves):
    if not re.fullmatch(f"(?:{LEAF.pattern})*", leaves):
        raise ValueError(leaves)
    starts, ends, end = [], [], 0
    for gap, separator, length in LEAF.findall(leaves):
        start = end + (int(gap) if gap else separator == ",")
        end = start + int(length)
        starts.append(start)
        ends.append(end)
    return tuple(starts), tuple(ends)


def cut(text, starts, ends):
    return tuple(text[start:end] for start, end in zip(starts, ends, strict=True))


def escape(label):
    return re.sub(r"[%()|\s]", lambda match: f"%{ord(match.group()):X};", label) or "%"


def unescape(label):
    return "" if label == "%" else re.sub("%([0-9A-F]+);", lambda match: chr(int(match.group(1), 16)), label)
