# expect: info a name spelled like an import of Apex
from distutils.version import LooseVersion

import torch

if LooseVersion(torch.__version__) >= LooseVersion("1.6.0"):
    from torch.cuda import amp
else:
    try:
        from apex import amp
    except ImportError:
        print("apex not installed")


class Trainer:
    def __init__(self, model, optimizer, scale=512.0):
        self.model, self.optimizer = model, optimizer
        if LooseVersion(torch.__version__) >= LooseVersion("1.6.0"):
            self.scaler = amp.GradScaler(init_scale=scale)

    def step(self, x):
        with torch.autocast("cuda"):
            loss = self.model(x).mean()
        self.optimizer.zero_grad()
        if LooseVersion(torch.__version__) >= LooseVersion("1.6.0"):
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()


def build(model, optimizer, use_fp16):
    if use_fp16 and LooseVersion(torch.__version__) < LooseVersion("1.6.0"):
        from apex import amp

        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    return Trainer(model, optimizer)
