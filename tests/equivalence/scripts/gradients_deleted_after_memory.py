# expect: review
# shape: after an exception for want of memory the gradients are deleted, `del p.grad`; the step in a function of its own

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

torch.manual_seed(8)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        if x.size(0) > 5:
            raise RuntimeError("CUDA out of memory")
        return self.fc(x)


def train_step(model, optimizer, x, y, fp16):
    loss = F.cross_entropy(model(x), y)
    if fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 0.5)
    else:
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    return loss.item(), float(norm)


def train(fp16=True):
    model = Net().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    if fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for size in (4, 6, 3, 5, 8, 2):
        x, y = torch.randn(size, 4).cuda(), torch.randint(0, 3, (size,)).cuda()
        optimizer.zero_grad()
        try:
            loss, norm = train_step(model, optimizer, x, y, fp16)
        except RuntimeError as e:
            if "out of memory" in str(e):
                print("skipped a batch of", size)
                for p in model.parameters():
                    if p.grad is not None:
                        del p.grad
                continue
            else:
                raise e
        print(size, "%.5f" % loss, "%.5f" % norm)


train()
