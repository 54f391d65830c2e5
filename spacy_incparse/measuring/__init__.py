"""Measures of syntactic complexity, and how far trees differ: computed on trees alone, by any parser."""
