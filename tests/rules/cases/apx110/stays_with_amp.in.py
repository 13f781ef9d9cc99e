# expect: info apex.optimizers.FusedAdam stays with amp, which the program still needs
# expect: manual
# rule: APX090
from apex import amp
from apex.optimizers import FusedAdam

optimizer = FusedAdam(model.parameters(), lr=1e-3)
model, optimizer = amp.initialize(model, optimizer, **options)
train(model, optimizer, amp)
