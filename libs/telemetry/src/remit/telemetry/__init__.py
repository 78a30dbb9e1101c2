"""Tracing, metrics and logs of Remit; every name in one module."""
