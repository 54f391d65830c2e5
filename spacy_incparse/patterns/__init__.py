"""Search in trees with patterns that mean what they mean in Tregex."""

from spacy_incparse.errors import PatternError
from spacy_incparse.patterns.pattern import Match, Pattern, compile
from spacy_incparse.trees.forest import Forest

__all__ = ["Forest", "Match", "Pattern", "PatternError", "compile"]
