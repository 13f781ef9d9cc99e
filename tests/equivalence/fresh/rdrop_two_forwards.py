# expect: safe
# casts: real

"""R-Drop fine-tuning: same batch twice through dropout, symmetric KL between both outputs."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import OneCycleLR
from apex import amp

SEED, EPOCHS, LR, ALPHA = 2021, 2, 3e-3, 4


class NewsModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(33, 12, padding_idx=0)
        self.proj = nn.Linear(12, 12)
        self.dropout = nn.Dropout(0.1)
        self.norm = nn.LayerNorm(12)
        self.fc = nn.Linear(12, 5)

    def forward(self, x):
        mask = (x != 0).unsqueeze(-1)
        h = self.norm(torch.relu(self.proj(self.emb(x))))
        pooled = (h * mask).sum(1) / mask.sum(1)
        return self.fc(self.dropout(pooled))


def compute_kl_loss(p, q, pad_mask=None):
    p_loss = F.kl_div(F.log_softmax(p, dim=-1), F.softmax(q, dim=-1), reduction='none')
    q_loss = F.kl_div(F.log_softmax(q, dim=-1), F.softmax(p, dim=-1), reduction='none')
    if pad_mask is not None:
        p_loss.masked_fill_(pad_mask, 0.)
        q_loss.masked_fill_(pad_mask, 0.)
    return (p_loss.sum() + q_loss.sum()) / 2


class AverageMeter:
    def __init__(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


def train_one_epoch(model, optimizer, scheduler, batches):
    model.train()
    losses, kls = AverageMeter(), AverageMeter()
    for x, y in batches:
        optimizer.zero_grad()
        out1 = model(x)
        out2 = model(x)
        ce = 0.5 * (F.cross_entropy(out1, y) + F.cross_entropy(out2, y))
        kl = compute_kl_loss(out1, out2)
        loss = ce + ALPHA * kl
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        scheduler.step()
        losses.update(loss.item(), y.size(0))
        kls.update(kl.item(), y.size(0))
    return losses.avg, kls.avg


def main():
    torch.manual_seed(SEED)
    model = NewsModel()
    # dropout masks of half and float tensors are drawn alike on a CPU, but keep the rate low anyway
    model.dropout.p = 0.0
    batches = [(torch.randint(1, 33, (6, 7)), torch.randint(0, 5, (6,))) for _ in range(3)]
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR)
    scheduler = OneCycleLR(optimizer, max_lr=LR, total_steps=EPOCHS * len(batches) + 1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", verbosity=0)
    res = [train_one_epoch(model, optimizer, scheduler, batches) for _ in range(EPOCHS)]
    model.eval()
    with torch.no_grad():
        logits = torch.cat([model(x) for x, _ in batches])
        probs = logits.float().softmax(1)
    return res, probs, scheduler.get_last_lr()


if __name__ == "__main__":
    main()
