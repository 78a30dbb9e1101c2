"""Sources and Channels of Remit, one package per provider."""
