# exported: Lamb
# expect: manual
try:
    from apex.optimizers import FusedMixedPrecisionLamb as Lamb
except ImportError:
    from torch.optim import AdamW as Lamb


def make(params):
    return Lamb(params, lr=0.1)
