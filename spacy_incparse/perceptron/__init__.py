"""The incremental perceptron parser of Collins & Roark (2004): search, scores and learner."""
