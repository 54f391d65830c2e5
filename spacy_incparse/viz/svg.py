"""Trees as SVG pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spacy_incparse.trees.tree_node import TreeNode
from spacy_incparse.viz.blocks import Block, shelve, stack
from spacy_incparse.viz.colors import Look
from spacy_incparse.viz.markup import escape
from spacy_incparse.viz.options import Options, read_options
from spacy_incparse.viz.painter import Metrics, paint
from spacy_incparse.viz.sketch import sketch
from spacy_incparse.viz.wrapping import wrap

_MARGIN = 8


def svg(trees: TreeNode | Sequence[TreeNode], **options: Any) -> str:
    """Return the picture of a tree, or of several, one below the other, as an SVG document.

    `options` are those of `Options`; the result can be saved as a file or stand in a page. Raises ConfigError for an
    option that does not exist or has a value it cannot have.
    """
    settings = read_options(options)
    several = [trees] if isinstance(trees, TreeNode) else list(trees)
    blocks = [tree_block(tree, settings, limit=settings.width) for tree in several]
    return document(stack(blocks), settings, " ".join(" ".join(tree.words) for tree in several))


def document(block: Block, options: Options, description: str) -> str:
    """Return a block of a picture as a document of its own; `description` is what screen readers read."""
    width, height = block.width + 2 * _MARGIN, block.height + 2 * _MARGIN
    # Notebooks shrink pictures to the width of a cell where nobody forbids it.
    style = f"max-width:none;height:{height}px;color:{options.color};background:{options.bg}"
    language = f' xml:lang="{escape(options.lang)}"' if options.lang else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="incparse" width="{width}" height="{height}" '
        f'viewBox="{-_MARGIN} {-_MARGIN} {width} {height}" role="img" aria-label="{escape(description)}"{language} '
        'direction="ltr" '
        f'style="{escape(style)}" font-family="{escape(options.font)}" text-anchor="middle">\n{block.body}\n</svg>'
    )


def tree_block(tree: TreeNode, options: Options, look: Look | None = None, *, limit: int | None = None) -> Block:
    """Return the picture of one tree as a block, in parts where it is wider than `limit` (None: in one)."""
    metrics, mirrored = Metrics.of(options), options.is_mirrored(tree)
    look = look or Look(options.colors)
    nodes = sketch(tree, options.folded(tree))
    for node in nodes:
        node.sign = look.sign(node.index)
    parts = wrap(nodes, tree, metrics.width, metrics.gap, limit) if limit else [nodes]
    return shelve([paint(part, options, look, mirrored=mirrored) for part in parts], limit, mirrored=mirrored)
