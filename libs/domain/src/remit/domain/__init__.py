"""The model of Remit: pure rules, no I/O and no clock of its own."""
