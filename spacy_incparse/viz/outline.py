"""A tree as an outline: one node per line, indented further than its parent."""

from __future__ import annotations

from spacy_incparse.viz.sketch import Sketch

_DEEPEST = 100  # levels of indentation if no width is given
_LINE = 16  # otherwise, the columns left for text


def outline(nodes: Sketch, *, ascii: bool = False, width: int | None = None) -> str:
    """Return the nodes of a sketch, one per line, in at most about `width` columns.

    A phrase with too much indentation is replaced by a number, and written below at the margin, after the same
    number. So the outline of a deep tree takes linear space.
    """
    down, branch, last = ("|  ", "|- ", "`- ") if ascii else ("│  ", "├─ ", "└─ ")
    deepest = max((width - _LINE) // len(down), 2) if width else _DEEPEST
    lines: list[str] = []
    waiting = [0]  # roots of the parts to write, as positions in the sketch
    for number, root in enumerate(waiting):
        path: list[int] = []  # the open phrases: one after the last node of each
        indents = [""]
        i = root
        if number:
            lines += ["", f"[{number}]"]
        while i < root + nodes[root].size:
            while path and path[-1] <= i:
                path.pop()
                indents.pop()
            node = nodes[i]
            behind = i + node.size
            is_last = not path or behind == path[-1]
            edge = "" if i == root else last if is_last else branch
            lines.append(" ".join([indents[-1] + edge + node.label, *node.lines]).rstrip())
            if node.size > 1 and len(path) == deepest:
                lines[-1] += f" [{len(waiting)}]"
                waiting.append(i)
                i = behind
                continue
            if node.size > 1:
                path.append(behind)
                indents.append("" if i == root else indents[-1] + ("   " if is_last else down))
            i += 1
    return "\n".join(lines)
