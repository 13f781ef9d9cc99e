# not the one of apex
from megatron.optimizer import scale_loss

with scale_loss(loss, optimizer) as scaled_loss:
    scaled_loss.backward()
