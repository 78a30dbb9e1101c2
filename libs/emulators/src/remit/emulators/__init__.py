"""Local stand-ins for the providers that Remit connects to, for demos and tests."""
