# expect: manual
from apex import amp

# clusters of the cortex (near its apex)
with amp.scale_loss(loss, optimizers) as scaled_loss:
    scaled_loss.backward()
