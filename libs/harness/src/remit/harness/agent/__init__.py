"""The Agent Client Protocol side: sessions for any client that speaks it."""
