"""The graph of code symbols and the walk around one of them."""
