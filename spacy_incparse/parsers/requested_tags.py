"""The tags of a sentence as a parser requests them, taken from those of a larger request."""

from __future__ import annotations

from collections.abc import Sequence

from spacy_incparse.parsers.parse import Tag, Tags, best_tag
from spacy_incparse.parsers.protocol import TagRequest


def requested_tags(tags: Tags, request: TagRequest | None) -> Tags:
    """Return the tags that a parser requests, given the same tagger's tags for a request of more.

    A parser that finds its own tags (None) gets all: it chooses among them.
    """
    return tags if request is None else [_requested(tag, request) for tag in tags]


def common_request(requests: Sequence[TagRequest | None]) -> TagRequest | None:
    """Return the smallest request that contains all of these; None if no parser needs tags."""
    needed = [request for request in requests if request is not None]
    if not needed:
        return None
    return TagRequest(max(request.n_tags for request in needed), max(request.margin for request in needed))


def _requested(tag: Tag, request: TagRequest) -> Tag:
    if tag is None or isinstance(tag, str):
        return tag
    if request.n_tags == 1:
        return best_tag(tag)
    return [(name, gap) for name, gap in tag if gap <= request.margin][: request.n_tags]
