from . import _C

try:
    from apex import amp

    float_function = amp.float_function
except ImportError:
    print("Warning: fp16 needs apex")

    def float_function(func):
        return func


nms = float_function(_C.nms)
