"""The web panel: server-rendered pages that work without JavaScript and keep themselves current with it."""
