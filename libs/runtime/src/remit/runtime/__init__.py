"""What every Remit service shares: settings, lifecycle and health."""
