# expect: manual stands in another file
from apex import amp

__all__ = ["amp"]
