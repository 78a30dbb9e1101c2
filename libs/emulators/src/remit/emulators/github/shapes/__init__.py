"""How each object looks in answers and webhook payloads, after GitHub's published schemas."""
