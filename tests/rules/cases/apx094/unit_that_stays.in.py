# expect: manual
from apex import amp

# made elsewhere (after apex)
with amp.scale_loss(loss, optimizer) as scaled_loss:
    scaled_loss.backward()
