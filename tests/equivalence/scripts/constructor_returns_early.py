# expect: review: results leave autocast in float16
# shape: a constructor that returns once Apex is initialized, and evaluation by its objects

import torch
from torch import nn
import torch.nn.functional as F
try:
    from apex import amp
except ImportError:
    pass

class Cfg: fp16 = True; lr = 0.1

class BaseTrainer(object):
    def __init__(self, cfg, model, train_dl, val_dl, num_gpus):
        self.cfg = cfg
        self.model = model
        self.train_dl, self.val_dl = train_dl, val_dl
        if num_gpus > 1:
            if cfg.fp16:
                print('multi gpu fp16')
            else:
                self.model = nn.DataParallel(self.model)
                self.optim = torch.optim.SGD(self.model.parameters(), lr=cfg.lr)
                self.mix_precision = False
                return
        else:
            self.model.cuda()
            self.optim = torch.optim.SGD(self.model.parameters(), lr=cfg.lr)
            self.mix_precision = False
            if cfg.fp16:
                self.model, self.optim = amp.initialize(self.model, self.optim, opt_level='O1')
                self.mix_precision = True
            return
        self.optim = torch.optim.SGD(self.model.parameters(), lr=cfg.lr)
        self.model, self.optim = amp.initialize(self.model, self.optim, opt_level='O1')
        self.mix_precision = True

    def step(self, batch):
        self.model.train()
        self.optim.zero_grad()
        img, target = batch
        score = self.model(img)
        loss = F.cross_entropy(score, target)
        if self.mix_precision:
            with amp.scale_loss(loss, self.optim) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.optim.step()
        return loss.item()

    def evaluate(self):
        self.model.eval()
        feats = []
        with torch.no_grad():
            for x, y in self.val_dl:
                feats.append(self.model(x).detach().cpu())
        return torch.cat(feats)

def main():
    torch.manual_seed(0)
    out = []
    for fp16, gpus in ((False, 1), (True, 1)):
        cfg = Cfg(); cfg.fp16 = fp16
        data = [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(4)]
        t = BaseTrainer(cfg, nn.Linear(6, 3), data, data[:2], gpus)
        for b in t.train_dl:
            out.append(t.step(b))
        out.append(t.evaluate())
    return out
if __name__ == '__main__':
    for value in main():
        print(value)
