# expect: manual this optimizer is initialized in another file
# expect: manual left as it is
import sys

import torch
from packaging import version

use_apex = "--apex" in sys.argv
if version.parse(torch.__version__) < version.parse("1.6"):
    from apex import amp
    use_apex = True


def train(model, optimizer, x):
    if use_apex:
        with amp.scale_loss(model(x).sum(), optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        model(x).sum().backward()
    optimizer.step()
