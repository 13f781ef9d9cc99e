"""``python -m compare``, the same as the console script ``amp-compare``."""

from __future__ import annotations

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
