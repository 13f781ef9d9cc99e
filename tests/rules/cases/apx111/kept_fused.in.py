# settings: keep_fused=true
# expect: info apex.optimizers.FusedSGD works with a GradScaler and stays
from apex import optimizers

optimizer = optimizers.FusedSGD(model.parameters(), lr=0.1, momentum=0.9)
