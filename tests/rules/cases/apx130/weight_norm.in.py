# rule: APX090
# expect: manual apex.reparameterization.apply_weight_norm has no counterpart
from apex.reparameterization import apply_weight_norm

model = apply_weight_norm(model)
