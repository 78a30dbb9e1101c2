"""Redis or Valkey for Remit: read positions and fenced leases."""
