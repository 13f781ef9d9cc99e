import torch, apex

optimizer = apex.optimizers.FusedAdam(model.parameters(), lr=0.1)
