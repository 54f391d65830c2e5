"""The grammars of chart parsers: states and rules, read from binarized trees."""
