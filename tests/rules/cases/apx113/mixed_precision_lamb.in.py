# expect: manual apex.optimizers.FusedMixedPrecisionLamb has no counterpart
from apex.optimizers import FusedMixedPrecisionLamb

optimizer = FusedMixedPrecisionLamb(model.parameters(), lr=1e-3)
