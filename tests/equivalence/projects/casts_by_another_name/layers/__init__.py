from .nms import nms
from .pool import Pool

__all__ = ["nms", "Pool"]
