"""Threads, Subscriptions, Tickets and Assignments."""
