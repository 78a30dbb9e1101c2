"""Traces: received as OTLP, the last ones kept, put together as trees for the waterfalls."""
