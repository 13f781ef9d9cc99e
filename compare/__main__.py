"""``python -m compare``, the same as the console script ``amp-compare``."""

from __future__ import annotations

import sys


def main() -> int:
    """Say that there is nothing to run yet."""
    print("amp-compare: the comparison suite is not part of this version yet.", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
