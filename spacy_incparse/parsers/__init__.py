"""Protocols, data types and functions shared by all kinds of parsers."""
