"""What the panel answers: queries on the read model, each a function of a connection.

The JSON API gives these as they are, the web pages show them.
"""
