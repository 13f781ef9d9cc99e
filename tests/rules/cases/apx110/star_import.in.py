# expect: manual names that a star brings in from Apex are not followed
# rule: APX090
from apex.optimizers import *

optimizer = FusedAdam(model.parameters(), lr=0.1)
