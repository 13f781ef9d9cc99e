# expect: manual
from distutils.version import LooseVersion

import torch

if LooseVersion(torch.__version__) >= LooseVersion("1.6.0"):
    amp = settings.amp
else:
    from apex import amp


def build(model, optimizer, use_fp16):
    if LooseVersion(torch.__version__) < LooseVersion("1.6.0"):
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    return amp.wrap(model), optimizer
