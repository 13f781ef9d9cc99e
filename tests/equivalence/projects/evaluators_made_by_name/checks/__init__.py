from .spread import Spread
