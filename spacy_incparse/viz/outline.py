"""A tree as an outline: a node a line, each further to the right than the one above it in the tree."""

from __future__ import annotations

from spacy_incparse.viz.sketch import Sketch

_DEEPEST = 100  # levels of indentation where no width is given
_LINE = 16  # columns that are left for what stands there, otherwise


def outline(nodes: Sketch, *, ascii: bool = False, width: int | None = None) -> str:
    """Return the nodes of a sketch, one a line, in at most about `width` columns.

    A phrase that would be indented so far that little is left of a line stands at the margin further below, behind the
    number that is in its place: so the outline of a deep tree takes linear space.
    """
    down, branch, last = ("|  ", "|- ", "`- ") if ascii else ("│  ", "├─ ", "└─ ")
    deepest = max((width - _LINE) // len(down), 2) if width else _DEEPEST
    lines: list[str] = []
    waiting = [0]  # roots of the parts that are to be written, by their positions in the sketch
    for number, root in enumerate(waiting):
        path: list[int] = []  # the open phrases: one behind the last node of each
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
