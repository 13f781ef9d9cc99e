# bug: the import goes though its name is looked up
# expect: manual FusedAdam
from apex.optimizers import FusedAdam

optimizer = globals()["FusedAdam"](model.parameters(), lr=0.1)
