"""Repairing treebanks: rules as data, applied to trees, with a record of every change."""
