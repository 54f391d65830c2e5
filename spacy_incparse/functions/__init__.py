"""Functions, empty categories, grammatical relations and dependencies of trees."""
