"""A stand-in: what the script takes from it."""
