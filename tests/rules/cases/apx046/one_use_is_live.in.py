# expect: manual no gradients are cleared in this loop
# expect: manual left as it is
import torch
from packaging import version

use_apex = False
if version.parse(torch.__version__) < version.parse("1.6"):
    from apex import amp
    use_apex = True


def train(model, optimizer, loader):
    if use_apex:
        model, optimizer = amp.initialize(model, optimizer)
    for x in loader:
        loss = model(x).sum()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
