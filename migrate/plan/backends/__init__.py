"""Apex beside a native backend, a library's switch, and what only an older torch runs."""
