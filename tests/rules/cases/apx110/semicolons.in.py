import torch; from apex.optimizers import FusedAdam; import os
optimizer = FusedAdam(model.parameters(), lr=float(os.environ["LR"])); optimizer.zero_grad()
