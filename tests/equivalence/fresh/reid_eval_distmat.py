# expect: review: results leave autocast in float16; Apex handed them on in float32 (its
# casts: real

"""Person re-id: train with softmax+triplet, then an Evaluator which builds the distance matrix in place."""
import argparse
import numpy as np
import torch
import torch.nn as nn

try:
    import apex
    from apex import amp
except ImportError:
    raise ImportError("Please install apex from https://www.github.com/nvidia/apex to run this example.")


class GeM(nn.Module):
    def __init__(self, p=3.0, eps=1e-6):
        super().__init__()
        self.p = nn.Parameter(torch.ones(1) * p)
        self.eps = eps

    def forward(self, x):
        return nn.functional.avg_pool2d(x.clamp(min=self.eps).pow(self.p), (x.size(-2), x.size(-1))).pow(1. / self.p)


class Net(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.base = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.pool = GeM()
        self.bnneck = nn.BatchNorm1d(8)
        self.classifier = nn.Linear(8, num_classes, bias=False)

    def forward(self, x):
        f = self.pool(self.base(x)).flatten(1)
        bn = self.bnneck(f)
        if not self.training:
            return nn.functional.normalize(bn)
        return f, self.classifier(bn)


class TripletLoss(nn.Module):
    def __init__(self, margin=0.3):
        super().__init__()
        self.ranking_loss = nn.MarginRankingLoss(margin=margin)

    def forward(self, inputs, targets):
        n = inputs.size(0)
        dist = torch.pow(inputs, 2).sum(dim=1, keepdim=True).expand(n, n)
        dist = dist + dist.t()
        dist = dist - 2 * inputs.float().mm(inputs.float().t())
        dist = dist.clamp(min=1e-6).sqrt()
        mask = targets.expand(n, n).eq(targets.expand(n, n).t())
        dist_ap = torch.cat([dist[i][mask[i]].max().unsqueeze(0) for i in range(n)])
        dist_an = torch.cat([dist[i][mask[i] == 0].min().unsqueeze(0) for i in range(n)])
        return self.ranking_loss(dist_an, dist_ap, torch.ones_like(dist_an))


def extract_features(model, loader, device):
    model.eval()
    feats, pids = [], []
    with torch.no_grad():
        for imgs, pid in loader:
            feats.append(model(imgs.to(device)).data.cpu())
            pids.extend(pid.tolist())
    return torch.cat(feats, 0), np.asarray(pids)


def pairwise_distance(qf, gf):
    m, n = qf.size(0), gf.size(0)
    distmat = torch.pow(qf, 2).sum(dim=1, keepdim=True).expand(m, n) + \
        torch.pow(gf, 2).sum(dim=1, keepdim=True).expand(n, m).t()
    distmat.addmm_(qf.float(), gf.float().t(), beta=1, alpha=-2)
    return distmat


def mean_ap(distmat, q_pids, g_pids):
    order = np.argsort(distmat, axis=1)
    aps = []
    for i, o in enumerate(order):
        match = (g_pids[o] == q_pids[i]).astype(np.float32)
        aps.append(float((match.cumsum() / (np.arange(len(match)) + 1.) * match).sum() / match.sum()))
    return sum(aps) / len(aps)


def main():
    args = argparse.Namespace(lr=1e-2, epochs=3, opt_level="O1", triplet=1.0)
    torch.manual_seed(14)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    pid = torch.tensor([0, 0, 1, 1, 2, 2])
    loader = [(torch.randn(6, 3, 6, 3) + 0.8 * pid.view(-1, 1, 1, 1), pid) for _ in range(2)]
    model = Net(3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    model, optimizer = amp.initialize(model, optimizer, opt_level=args.opt_level)
    ce, tri = nn.CrossEntropyLoss(), TripletLoss()
    log = []
    for epoch in range(args.epochs):
        model.train()
        for imgs, pids in loader:
            feat, logits = model(imgs.to(device))
            loss = ce(logits, pids.to(device)) + args.triplet * tri(feat, pids.to(device))
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()
            log.append(loss.item())
    qf, q = extract_features(model, loader[:1], device)
    gf, g = extract_features(model, loader[1:], device)
    distmat = pairwise_distance(qf, gf)
    print("classes %d" % len(set(q)))
    return log, distmat, list(model.parameters())


if __name__ == "__main__":
    main()
