"""Tree search with patterns that have the same meaning as in Tregex."""

from spacy_incparse.errors import PatternError
from spacy_incparse.patterns.pattern import Match, Pattern, compile
from spacy_incparse.trees.forest import Forest

__all__ = ["Forest", "Match", "Pattern", "PatternError", "compile"]
