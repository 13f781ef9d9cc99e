# expect: manual
from . import _C

try:
    from apex import amp

    float_function = amp.float_function
except ImportError:

    def float_function(func):
        return func


nms = float_function(_C.nms)
