from apex.optimizers import *

optimizer = FusedAdam(model.parameters(), lr=0.1)
