# expect: safe
# casts: real

import argparse
import logging
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

log = logging.getLogger(__name__)
try:
    import apex
    from apex import amp
    HAS_AMP = True
except ImportError as e:
    HAS_AMP = False
    log.warning("apex not found: %s", e)


def unsup_loss(y_pred, temp=0.05):
    idxs = torch.arange(y_pred.shape[0], device=y_pred.device)
    y_true = idxs + 1 - idxs % 2 * 2
    similarities = F.cosine_similarity(y_pred.unsqueeze(1), y_pred.unsqueeze(0), dim=2)
    similarities = similarities - torch.eye(y_pred.shape[0], device=y_pred.device) * 1e12
    return torch.mean(F.cross_entropy(similarities / temp, y_true))


class SentenceEncoder(nn.Module):
    def __init__(self, vocab, hidden, pooling):
        super().__init__()
        self.tok = nn.Embedding(vocab, hidden)
        self.mlp = nn.Sequential(nn.Linear(hidden, hidden), nn.Tanh())
        self.pooling = pooling

    def forward(self, ids):
        h = self.tok(ids)
        if self.pooling == "cls":
            h = h[:, 0]
        elif self.pooling == "mean":
            h = h.mean(1)
        elif self.pooling == "first-last-avg":
            h = torch.stack([h[:, 0], h[:, -1]], 1).mean(1)
        return self.mlp(h)


def align_uniform(model, pairs):
    model.eval()
    with torch.no_grad():
        a, b = (F.normalize(model(p).float(), dim=-1) for p in pairs)
        align = (a - b).norm(p=2, dim=1).pow(2).mean()
        uniform = torch.pdist(a).pow(2).mul(-2).exp().mean().log()
    return align.item(), uniform.item()


def train(model, loader, optimizer, args):
    model.train()
    best, hist = math.inf, []
    for batch_idx, ids in enumerate(loader, start=1):
        # repeat each sentence, the second is slightly shifted ("word repetition")
        both = torch.stack([ids, torch.roll(ids, 1, 1)], 1).flatten(0, 1)
        out = model(both)
        loss = unsup_loss(out, args.temp)
        optimizer.zero_grad()
        if HAS_AMP and args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        if batch_idx % args.eval_every == 0:
            log.info("loss %.4f", loss.item())
            score = align_uniform(model, (ids, torch.roll(ids, 1, 1)))
            model.train()
            hist += [loss.item(), *score]
            if score[0] < best:
                best = score[0]
    return best, hist


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--temp", type=float, default=0.2)
    parser.add_argument("--pooling", default="cls", choices=["cls", "mean", "first-last-avg"])
    parser.add_argument("--no-fp16", dest="fp16", action="store_false")
    parser.add_argument("--eval-every", type=int, default=2)
    args = parser.parse_args(["--pooling", "first-last-avg"])
    torch.manual_seed(0)
    model = SentenceEncoder(27, 8, args.pooling)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    if HAS_AMP and args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    loader = [torch.randint(0, 27, (4, 6)) for _ in range(6)]
    return train(model, loader, optimizer, args)


if __name__ == "__main__":
    main()
