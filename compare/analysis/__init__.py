"""From records to numbers, a file for each kind of number; `compare.analyse` puts them together."""
