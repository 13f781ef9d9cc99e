# expect: safe
# casts: real

"""Submission script: load fold checkpoints, O1 without optimizer, flip TTA, geometric mean."""
import copy
import io
import torch
from torch import nn
from apex import amp


class EffNet(nn.Module):
    def __init__(self, width, n_classes=5):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.bn = nn.BatchNorm2d(width)
        self.se = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, width, 1), nn.Sigmoid())
        self.fc = nn.Linear(width, n_classes)

    def forward(self, x):
        x = torch.relu(self.bn(self.stem(x)))
        x = x * self.se(x)
        return self.fc(x.mean(dim=[2, 3]))


def fake_checkpoints():
    blobs = []
    for fold in range(3):
        torch.manual_seed(100 + fold)
        net = EffNet(4 + 4 * (fold % 2))
        net.bn.running_mean.uniform_(-0.2, 0.2)
        buf = io.BytesIO()
        torch.save({'width': net.stem.out_channels, 'model': net.state_dict(), 'fold': fold}, buf)
        buf.seek(0)
        blobs.append(buf)
    return blobs


def load_models(blobs, device):
    models = []
    for b in blobs:
        ckpt = torch.load(b, map_location='cpu')
        m = EffNet(ckpt['width'])
        m.load_state_dict(ckpt['model'])
        m.to(device).eval()
        models.append(m)
    models = amp.initialize(models, opt_level='O1', verbosity=0)
    return models


def tta(model, x):
    outs = [model(x), model(torch.flip(x, [3])), model(torch.flip(x, [2]))]
    return torch.stack([o.float().softmax(1) for o in outs]).mean(0)


@torch.no_grad()
def predict(models, loader, device):
    preds = []
    for x in loader:
        x = x.to(device)
        p = torch.stack([tta(m, x) for m in models])
        gm = torch.exp(torch.log(p.clamp(min=1e-6)).mean(0))
        preds.append(gm / gm.sum(1, keepdim=True))
    return torch.cat(preds)


def main():
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    models = load_models(fake_checkpoints(), device)
    torch.manual_seed(1)
    loader = [torch.rand(2, 3, 8, 8) for _ in range(3)]
    probs = predict(models, loader, device)
    top = probs.topk(2, dim=1)[0]
    return probs, top


if __name__ == "__main__":
    main()
