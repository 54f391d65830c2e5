"""Collins & Roark (2004), "Incremental Parsing with the Perceptron Algorithm": where its parts are in the code.

- Section 2.1, equation 1, and section 2.3, FILTER and ADV: `Beam` in incremental/beam.pyx; equation 3: `Beam._filter`.
- Figure 1 and section 4.2, the perceptron and early update: `Perceptron` in incremental/beam.pyx. Section 2.2,
  averaged parameters: `AveragedWeights` in linear/weights.pyx.
- Section 3.1, figure 2, chains and triples: incremental/grammar.py and incremental/grammar.py, compiled in
  incremental/moves.pyx. Figure 3, the left-corner transform: transforms/left_corner.py. Table 1:
  incremental/coverage.py.
- Section 3.2, table 2: `PAPER` and `PUNCTUATION` in linear/templates.py.
- Section 4.1, figure 4, repeated use of hypotheses: `CandidateCache`, here.
- Section 5: the tagger in tagging/, its jackknifing in tagging/tagger.py; the generative model (Roark 2001) in
  generative/; its score as a feature in generative/hybrid_scorer.pyx, its ten models in generative/hybrid.py.
- Figure 5, tables 3 and 4: benchmarks/paper_tables.py.

docs/results.md has the figures.
"""
