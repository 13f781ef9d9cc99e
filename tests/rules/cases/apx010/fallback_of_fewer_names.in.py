# exported: Adam LAMB
# expect: review
try:
    from apex.optimizers import FusedAdam as Adam
    from apex.optimizers import FusedMixedPrecisionLamb as LAMB
except ImportError:
    from torch.optim import AdamW as Adam
