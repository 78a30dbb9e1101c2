"""The read model, its JSON API and the web panel."""
