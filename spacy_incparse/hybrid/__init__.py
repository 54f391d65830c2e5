"""The hybrid: a perceptron with the log probability of a generative model as one of its features."""
