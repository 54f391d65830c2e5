"""The systems of the papers that this project is about, each in a room of its own, where only its tables need them.

Each room registers a kind of parser, or another part, through the entry points that other packages would use. Nothing
else imports them. The docstring of each room says which section and equation is where.
"""
