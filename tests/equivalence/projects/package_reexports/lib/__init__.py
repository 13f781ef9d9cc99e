from .config import Config
from .core import fit
from .utils import *

__all__ = ["Config", "fit"]
