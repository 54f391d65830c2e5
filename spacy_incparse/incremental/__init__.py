"""The incremental parser (Collins & Roark 2004): a tree as one move per word, beam, perceptron."""
