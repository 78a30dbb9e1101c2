"""remit-agent: a coding agent that speaks the Agent Client Protocol."""
