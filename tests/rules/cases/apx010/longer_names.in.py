import apex_utils as amp
from apexlib import initialize

model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
