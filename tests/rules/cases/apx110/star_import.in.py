# bug: "is imported and not used in this file", and the use is in no finding
# expect: manual FusedAdam
# rule: APX090
from apex.optimizers import *

optimizer = FusedAdam(model.parameters(), lr=0.1)
