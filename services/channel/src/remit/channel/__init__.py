"""Channel writes: replies, pull requests, receipts."""
