import inspect

from kernels import FusedLayerNormAffineFunction

if "memory_efficient" in inspect.getfullargspec(FusedLayerNormAffineFunction.forward).args:
    x = FusedLayerNormAffineFunction.apply(x, weight, bias, shape, eps, True)
