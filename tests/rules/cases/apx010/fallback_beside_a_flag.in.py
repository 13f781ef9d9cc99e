# exported: Adam FUSED
# expect: review
try:
    from apex.optimizers import FusedMixedPrecisionLamb as Adam
    FUSED = True
except ImportError:
    from torch.optim import AdamW as Adam
    FUSED = False
