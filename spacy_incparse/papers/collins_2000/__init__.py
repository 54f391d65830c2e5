"""Collins (2000), Discriminative Reranking for Natural Language Parsing: the learners of section 2, and a perceptron.

They are entry points of the group `spacy_incparse_rerank_learners`: `rerank-train --loss boost`, `log-greedy` and
`perceptron`. Lists, features and the choice of a tree are those of `rerank/`.

- section 2.1: x_{i,j} and L in `rerank/data.py` (`build_data`), F(x) in `candidate_values`, x_{i,1} in
  `best_candidates` (footnote 3)
- section 2.2.1, equation 1, LogLoss: `learning.GreedyLogLoss.loss`; with a prior (section 2.5):
  `rerank.learner.LogLearner`
- section 2.2.2, BoostLoss: `learning.Boosting.loss`
- section 2.3.1: alpha_0 in `learners.best_base_weight`, equations 2 and 3 and smoothing by epsilon Z in
  `Boosting._best_weight` and `_find_gain`; section 2.3.2, iterative scaling: `GreedyLogLoss._find_gain`
- section 2.4: B (equation 4) in `learning.pair_differences`, A in `rerank.sparse_rows.inverted`; table 1 is
  `algorithm = "naive"`, table 2 `"efficient"`, and `n_additions` is the sum that the section compares
- section 3: features of at least five sentences in `rerank.features.FeatureColumns.select`, parsers of the other chunks
  in `rerank.list_folders.make_lists`, the number of rounds by cross-validation in `rerank/training.py`

`tests/reference/rerank_learners.py` has a twin of each learner, written from the definitions.
"""
