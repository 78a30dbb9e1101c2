"""The read model: what the streams say, as tables, rebuilt from them at any time."""
