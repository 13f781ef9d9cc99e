"""The script is older than Python 3.9."""

import fractions
import math

fractions.gcd = math.gcd
