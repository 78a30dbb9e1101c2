"""The commands of `remit`, one module for each group."""
