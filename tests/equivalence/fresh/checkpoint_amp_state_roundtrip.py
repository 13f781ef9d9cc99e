# expect: review: a checkpoint written by the legacy code holds Apex's state and will no

"""Intent classifier; saves model/optimizer/amp to a checkpoint, restores them in a second phase. A bad batch overflows in phase one."""
import os
import tempfile

import torch
from torch import nn, optim
from apex import amp


class IntentNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(50, 8, mode="mean")
        self.bn = nn.BatchNorm1d(8)
        self.fc = nn.Linear(8, 4)

    def forward(self, tokens):
        return self.fc(torch.relu(self.bn(self.bag(tokens))))


def save_checkpoint(path, model, optimizer, epoch, best):
    checkpoint = {
        "epoch": epoch,
        "best": best,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "amp": amp.state_dict(),
    }
    torch.save(checkpoint, path)


def load_checkpoint(path, model, optimizer):
    checkpoint = torch.load(path, map_location="cpu")
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    amp.load_state_dict(checkpoint["amp"])
    return checkpoint["epoch"], checkpoint["best"]


def train_epoch(model, optimizer, data, weights):
    model.train()
    total = 0.0
    for x, y, w in zip(data[0], data[1], weights):
        optimizer.zero_grad()
        loss = (nn.functional.cross_entropy(model(x), y, reduction="none") * w).mean()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        total += min(loss.item(), 100.0)
    return total / len(data[0])


@torch.no_grad()
def accuracy(model, data):
    model.eval()
    hits = [(model(x).argmax(1) == y).float().mean() for x, y in zip(*data)]
    return sum(hits) / len(hits)


def main():
    torch.manual_seed(123)
    data = (torch.randint(0, 50, (4, 6, 3)), torch.randint(0, 4, (4, 6)))
    weights = [1.0, 1e38, 1.0, 0.5]
    model = IntentNet()
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", verbosity=0)
    out, best = [], 0.0
    with tempfile.TemporaryDirectory() as d:
        ckpt = os.path.join(d, "checkpoint.pt")
        for epoch in range(2):
            out.append(train_epoch(model, optimizer, data, weights))
            acc = accuracy(model, data)
            best = max(best, acc)
            save_checkpoint(ckpt, model, optimizer, epoch, best)
        saved_scale = torch.load(ckpt)["amp"]
        # goes astray for one epoch, then falls back to the checkpoint
        for g in optimizer.param_groups:
            g["lr"] = 1.0
        out.append(train_epoch(model, optimizer, data, weights))
        start, best = load_checkpoint(ckpt, model, optimizer)
        out.append(train_epoch(model, optimizer, data, [1.0] * 4))
    return start, best, out, accuracy(model, data), list(model.state_dict().values()), len(saved_scale) > 0


if __name__ == "__main__":
    main()
