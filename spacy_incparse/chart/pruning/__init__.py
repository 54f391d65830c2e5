"""Coarse-to-fine pruning: what a small model finds improbable is left out of the chart."""
