"""NATS JetStream for Remit: subjects, streams, commits and workers."""
