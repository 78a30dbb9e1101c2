"""Source ingestion: webhooks, pollers and normalisers."""
