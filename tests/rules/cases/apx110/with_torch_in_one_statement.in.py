# bug: the statement goes with torch in it, and the checks refuse that
import torch, apex

optimizer = apex.optimizers.FusedAdam(model.parameters(), lr=0.1)
