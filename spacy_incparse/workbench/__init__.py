"""A page on which a person corrects the trees that a parser proposes, and the parser learns from them."""
