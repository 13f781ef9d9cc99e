# expect: review: evaluation has no optimizer, so nobody says there whether mixed precision is on
# shape: the annotated transformer's loss_compute, with an optimizer's wrapper to train and None to evaluate
# differs: forwards|losses

import torch
import torch.nn as nn
from apex import amp

from noam import NoamOpt


class LossCompute:
    def __init__(self, criterion, opt=None, use_amp=False):
        self.criterion = criterion
        self.opt = opt
        self.use_amp = use_amp

    def __call__(self, out, y):
        loss = self.criterion(out, y)
        if self.opt is not None:
            if self.use_amp:
                with amp.scale_loss(loss, self.opt.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.opt.step()
            self.opt.zero_grad()
        return loss.item()


def run_epoch(data, model, loss_compute):
    total = 0
    for x, y in data:
        out = model(x.cuda())
        total += loss_compute(out, y.cuda())
    return total / len(data)


def main(use_amp=True):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Embedding(10, 6), nn.Linear(6, 10)).cuda()
    adam = torch.optim.Adam(model.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9)
    if use_amp:
        model, adam = amp.initialize(model, adam, opt_level="O1")
    opt = NoamOpt(6, 1, 4, adam)
    criterion = nn.CrossEntropyLoss()
    out = []
    data = [(torch.randint(0, 10, (4,)), torch.randint(0, 10, (4,))) for _ in range(4)]
    for epoch in range(2):
        model.train()
        out.append(run_epoch(data, model, LossCompute(criterion, opt, use_amp)))
        model.eval()
        with torch.no_grad():
            out.append(run_epoch(data[:2], model, LossCompute(criterion, None)))
    return out, list(model.parameters())


if __name__ == "__main__":
    print(main())
