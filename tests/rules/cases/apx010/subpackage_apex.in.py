from myproject.apex import amp
from megatron.apex.amp import scale_loss

model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
with scale_loss(loss, optimizer) as scaled_loss:
    scaled_loss.backward()
