# expect: safe
# shape: try/except with APEX_AVAILABLE, read far from the import
# argv:
# argv: --fp16

import argparse

import torch
import torch.nn as nn

try:
    from apex import amp
    APEX_AVAILABLE = True
except ImportError:
    APEX_AVAILABLE = False


class Learner:
    def __init__(self, fp16):
        if fp16 and not APEX_AVAILABLE:
            raise RuntimeError("apex is not installed, run without --fp16")
        self.fp16 = fp16
        self.model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        if fp16:
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def fit(self, batches):
        for i, (x, y) in enumerate(batches):
            loss = nn.functional.cross_entropy(self.model(x.cuda()), y.cuda())
            self.optimizer.zero_grad()
            if self.fp16:
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.optimizer.step()
            print("batch", i, "%.6f" % loss.item())


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--fp16", default=False, action="store_true")
    a = ap.parse_args()
    torch.manual_seed(20)
    Learner(a.fp16).fit([(torch.randn(3, 4), torch.tensor([0, 1, 1])) for _ in range(5)])
