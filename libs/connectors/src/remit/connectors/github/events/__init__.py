"""The events of GitHub that become Triggers, one module per family."""
