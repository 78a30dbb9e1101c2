"""Executor Sessions: an ACP client that hosts coding agents."""
