from .hooks import Collect, Hook, PreciseStatistics, Validate
