"""Trees, and the code that parses, stores, edits and displays them and finds their heads."""
