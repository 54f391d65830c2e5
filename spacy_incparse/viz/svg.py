"""A tree as an SVG picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.colors import label_color
from spacy_incparse.viz.layout import lay_out
from spacy_incparse.viz.markup import escape
from spacy_incparse.viz.measure import advance
from spacy_incparse.viz.sketch import sketch


def svg(tree: Tree, *, colors: Mapping[str, str] | None = None, **options: Any) -> str:
    """Return the picture of a tree, for a file or for a page."""
    nodes = sketch(tree)
    widths = [max(advance(node.label, 13) + 12, advance(node.text, 16)) for node in nodes]
    layout = lay_out([node.size for node in nodes], widths, 14)
    bottom = 44 * (1 + max(layout.depths))
    edges, labels, words = [], [], []
    for i, node in enumerate(nodes):
        x, width = layout.centres[i], advance(node.label, 13) + 12
        y = bottom - 44 if node.size == 1 else 44 * layout.depths[i]
        if layout.parents[i] >= 0:
            above = layout.centres[layout.parents[i]], 44 * (layout.depths[i] - 1) + 22
            middle = above[1] + 12
            edges.append(f"M{above[0]},{above[1]}V{middle}H{x}V{y}")
        color = label_color(node.label, colors) if node.size > 1 else "none"
        labels.append(f'<rect x="{x - width // 2}" y="{y}" width="{width}" height="22" rx="5" fill="{escape(color)}"/>')
        ink = "#1b1f24" if node.size > 1 else "currentColor"
        labels.append(f'<text x="{x}" y="{y + 16}" fill="{ink}">{escape(node.label)}</text>')
        if node.size == 1:
            words.append(f'<text x="{x}" y="{y + 42}">{escape(node.text)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{layout.width}" height="{bottom + 10}" '
        f'viewBox="0 0 {layout.width} {bottom + 10}" font-family="sans-serif" text-anchor="middle">'
        f'<path d="{"".join(edges)}" fill="none" stroke="currentColor" stroke-opacity="0.5"/>'
        f'<g font-size="13">{"".join(labels)}</g><g font-size="16" fill="currentColor">{"".join(words)}</g></svg>'
    )
