"""Who may look at the panel: tokens, sessions, and what every request must show."""
