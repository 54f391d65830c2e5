"""Part-of-speech tagging: averaged perceptron (Collins 2002), k best tags per word, jackknifing."""

from spacy_incparse.tagging.jackknife import jackknife_tags
from spacy_incparse.tagging.tagger import Tagger

__all__ = ["Tagger", "jackknife_tags"]
