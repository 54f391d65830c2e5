"""Trees as SVG pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spacy_incparse.trees.node import TreeNode
from spacy_incparse.viz.blocks import Block, shelve, stack
from spacy_incparse.viz.colors import Look
from spacy_incparse.viz.markup import escape
from spacy_incparse.viz.options import Options, read_options
from spacy_incparse.viz.painter import Metrics, paint
from spacy_incparse.viz.sketch import sketch
from spacy_incparse.viz.wrapping import wrap

_MARGIN = 8


def svg(trees: TreeNode | Sequence[TreeNode], **options: Any) -> str:
    """Return an SVG document with the picture of a tree, or of several trees below each other.

    `options` are those of `Options`; the result can be saved as a file or embedded in a page. Raises ConfigError for
    an unknown option or an invalid value.
    """
    settings = read_options(options)
    several = [trees] if isinstance(trees, TreeNode) else list(trees)
    blocks = [tree_block(tree, settings, limit=settings.width) for tree in several]
    return document(stack(blocks), settings, " ".join(" ".join(tree.words) for tree in several))


def document(block: Block, options: Options, description: str) -> str:
    """Return a block as a separate document; `description` is for screen readers."""
    width, height = block.width + 2 * _MARGIN, block.height + 2 * _MARGIN
    # Otherwise notebooks shrink pictures to the width of a cell.
    style = f"max-width:none;height:{height}px;color:{options.color};background:{options.bg}"
    language = f' xml:lang="{escape(options.lang)}"' if options.lang else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="incparse" width="{width}" height="{height}" '
        f'viewBox="{-_MARGIN} {-_MARGIN} {width} {height}" role="img" aria-label="{escape(description)}"{language} '
        'direction="ltr" '
        f'style="{escape(style)}" font-family="{escape(options.font)}" text-anchor="middle">\n{block.body}\n</svg>'
    )


def tree_block(tree: TreeNode, options: Options, look: Look | None = None, *, limit: int | None = None) -> Block:
    """Return the picture of one tree as a block, in parts if it is wider than `limit` (None: in one part)."""
    metrics, mirrored = Metrics.of(options), options.is_mirrored(tree)
    look = look or Look(options.colors)
    nodes = sketch(tree, options.folded(tree))
    for node in nodes:
        node.sign = look.sign(node.index)
    parts = wrap(nodes, tree, metrics.width, metrics.gap, limit) if limit else [nodes]
    return shelve([paint(part, options, look, mirrored=mirrored) for part in parts], limit, mirrored=mirrored)
