"""The autocast regions of a unit."""
