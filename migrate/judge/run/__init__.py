"""Runs one program symbolically, up to the next thing that the other program has to do as well."""
