# expect: safe

# gradual unfreezing: layer groups join the optimizer after amp.initialize
import torch
from torch import nn
from apex import amp


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Embedding(32, 8)
        self.layer1 = nn.Linear(8, 8)
        self.layer2 = nn.Linear(8, 8)
        self.head = nn.Sequential(nn.BatchNorm1d(16), nn.Linear(16, 3))

    def forward(self, x):
        h = self.encoder(x)
        h = torch.tanh(self.layer1(h))
        h = torch.tanh(self.layer2(h))
        return self.head(torch.cat([h.max(1)[0], h.mean(1)], 1))


def freeze(module, flag=True):
    for p in module.parameters():
        p.requires_grad = not flag


class SlantedTriangular(torch.optim.lr_scheduler.LambdaLR):
    def __init__(self, optimizer, T, cut_frac=0.25, ratio=32):
        cut = max(1, int(T * cut_frac))

        def f(t):
            p = t / cut if t < cut else 1 - (t - cut) / (cut * (1 / cut_frac - 1))
            return (1 + max(p, 0) * (ratio - 1)) / ratio
        super().__init__(optimizer, f)


def epoch(model, optimizer, batches, T, clip=0.4):
    sched = SlantedTriangular(optimizer, T)
    model.train()
    out = []
    for x, y in batches:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        out.append(float(nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], clip)))
        optimizer.step()
        sched.step()
        out.append(loss.item())
    for g in optimizer.param_groups:
        g['lr'] = g['initial_lr']
    return out


def main():
    torch.manual_seed(31)
    model = Classifier()
    groups = [model.layer2, model.layer1, model.encoder]
    for m in groups:
        freeze(m)
    lr = 0.05
    optimizer = torch.optim.SGD(model.head.parameters(), lr=lr, momentum=0.9)
    model, optimizer = amp.initialize(model, optimizer, opt_level='O1', verbosity=0)
    batches = [(torch.randint(0, 32, (6, 5)), torch.randint(0, 3, (6,))) for _ in range(2)]
    log = [epoch(model, optimizer, batches, 2)]
    for m in groups:
        lr = lr / 2.6
        freeze(m, False)
        optimizer.add_param_group({'params': m.parameters(), 'lr': lr, 'initial_lr': lr})
        log.append(epoch(model, optimizer, batches, 2))
    return log, len(optimizer.param_groups), list(model.state_dict().values())


if __name__ == "__main__":
    main()
