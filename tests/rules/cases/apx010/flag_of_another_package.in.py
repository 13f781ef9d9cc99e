import torch

fused = 0
if torch.cuda.is_available():
    try:
        from kernels import FusedLayerNorm

        fused = 1
    except ImportError:
        pass

print(fused)
