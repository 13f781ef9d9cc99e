"""``python -m migrate``, the same as the console script ``apex2native``."""

from __future__ import annotations

import sys

from migrate.cli import main

if __name__ == "__main__":
    sys.exit(main())
