"""A stand-in: the script imports it, and reads its spectrograms from files."""
