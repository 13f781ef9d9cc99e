"""One of the two programs: what in its text has a part in training, and which objects are meant."""
