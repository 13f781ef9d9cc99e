# rule: APX090
# expect: review apex.optimizers.FusedAdam is imported and not used in this file
from apex.optimizers import FusedAdam

optimizer = globals()["FusedAdam"](model.parameters(), lr=0.1)
