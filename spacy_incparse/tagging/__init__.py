"""Part-of-speech tagging: averaged perceptron (Collins 2002), k best tags per word, jackknifing."""

from spacy_incparse.tagging.tagger import Tagger, jackknife_tags

__all__ = ["Tagger", "jackknife_tags"]
