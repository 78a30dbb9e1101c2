"""The JSON API: the answers as they are, under ``/api``."""
