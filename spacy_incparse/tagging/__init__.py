"""Part-of-speech tagging: averaged perceptron (Collins 2002), k best tags a word, jackknifing."""

from .jackknife import jackknife_tags
from .tagger import Tagger

__all__ = ["Tagger", "jackknife_tags"]
