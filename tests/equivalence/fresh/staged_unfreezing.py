# expect: safe
# casts: real

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import lr_scheduler
from apex import amp

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU())
        self.layer2 = nn.Sequential(nn.Conv2d(4, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU())

    def forward(self, x):
        return self.layer2(self.layer1(x)).mean((2, 3))


class Net(nn.Module):
    def __init__(self, n_classes=3):
        super().__init__()
        self.backbone = Backbone()
        self.classifier = nn.Linear(8, n_classes)

    def forward(self, x):
        return self.classifier(self.backbone(x))

    def freeze(self, names):
        for name, child in self.backbone.named_children():
            if name in names:
                for p in child.parameters():
                    p.requires_grad = False
                child.eval()

    def unfreeze(self, name):
        child = getattr(self.backbone, name)
        for p in child.parameters():
            p.requires_grad_(True)
        child.train()
        return list(child.parameters())


def fit(model, optimizer, scheduler, loader, n_epochs, lr_log):
    last = None
    for _ in range(n_epochs):
        for step, (xb, yb) in enumerate(loader):
            optimizer.zero_grad()
            last = F.cross_entropy(model(xb.to(device)), yb.to(device))
            with amp.scale_loss(last, optimizer) as scaled:
                scaled.backward()
            optimizer.step()
        scheduler.step()
        lr_log.append([g["lr"] for g in optimizer.param_groups])
    return last.item()


def main():
    torch.manual_seed(13)
    loader = [(torch.randn(4, 3, 6, 6), torch.randint(0, 3, (4,))) for _ in range(2)]
    model = Net().to(device)
    model.freeze(["layer1", "layer2"])
    optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-2)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale="dynamic")
    lrs = []
    # stage 1: head only
    losses = [fit(model, optimizer, lr_scheduler.ExponentialLR(optimizer, 0.9), loader, 2, lrs)]
    # stage 2 and 3: gradual unfreezing, ten times smaller lr
    for stage, name in enumerate(["layer2", "layer1"], start=1):
        new_params = model.unfreeze(name)
        for g in optimizer.param_groups:
            g.pop("initial_lr", None)
        optimizer.add_param_group({"params": new_params, "lr": 1e-2 / 10 ** stage})
        losses.append(fit(model, optimizer, lr_scheduler.ExponentialLR(optimizer, 0.9), loader, 2, lrs))
    return losses, lrs, list(model.parameters()), model.backbone.layer1[1].running_mean


if __name__ == "__main__":
    main()
