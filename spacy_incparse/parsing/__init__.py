"""What all parsers share: parses, n-best lists, sessions, combinations."""
