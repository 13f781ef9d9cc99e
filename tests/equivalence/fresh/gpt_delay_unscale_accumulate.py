# expect: safe

import math
import torch
import torch.nn as nn
from torch.nn import functional as F
from apex import amp


class GPTConfig:
    vocab_size = 17
    block_size = 6
    n_embd = 8

    def __init__(self, **kw):
        for k, v in kw.items():
            setattr(self, k, v)


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.key = nn.Linear(config.n_embd, config.n_embd)
        self.query = nn.Linear(config.n_embd, config.n_embd)
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.register_buffer("mask", torch.tril(torch.ones(config.block_size, config.block_size)))

    def forward(self, x):
        B, T, C = x.size()
        k, q, v = self.key(x), self.query(x), self.value(x)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(C))
        att = att.masked_fill(self.mask[:T, :T] == 0, -1e4)
        return F.softmax(att, dim=-1) @ v


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.tok_emb = nn.Embedding(config.vocab_size, config.n_embd)
        self.pos_emb = nn.Parameter(torch.zeros(1, config.block_size, config.n_embd))
        self.attn = CausalSelfAttention(config)
        self.ln_f = nn.LayerNorm(config.n_embd)
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)

    def forward(self, idx, targets=None):
        x = self.tok_emb(idx) + self.pos_emb[:, :idx.size(1)]
        logits = self.head(self.ln_f(x + self.attn(x)))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))
        return logits, loss


def get_lr(it, base, warmup, total):
    if it < warmup:
        return base * (it + 1) / warmup
    return max(0.1, 0.5 * (1.0 + math.cos(math.pi * (it - warmup) / (total - warmup)))) * base


def run_epoch(model, optimizer, data, accum, it, train=True):
    model.train(train)
    losses = []
    for i, (x, y) in enumerate(data):
        with torch.set_grad_enabled(train):
            _, loss = model(x, y)
        losses.append(loss.item())
        if not train:
            continue
        last = (i + 1) % accum == 0
        # only unscale on the last micro-batch of the group
        with amp.scale_loss(loss / accum, [optimizer], delay_unscale=not last) as scaled_loss:
            scaled_loss.backward()
        if last:
            for g in optimizer.param_groups:
                g['lr'] = get_lr(it, 1e-2, 2, 6)
            gn = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(float(gn))
            it += 1
    return losses, it


def main():
    torch.manual_seed(1337)
    model = GPT(GPTConfig(n_embd=8))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95))
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    seq = torch.randint(0, 17, (4, 3, 7))
    data = [(s[:, :-1], s[:, 1:]) for s in seq]
    it, log = 0, []
    for epoch in range(2):
        tr, it = run_epoch(model, optimizer, data, 2, it)
        va, it = run_epoch(model, optimizer, data[:2], 2, it, train=False)
        log.append((tr, va))
    idx = torch.zeros(1, 1).long()
    with torch.no_grad():
        for _ in range(5):
            logits, _ = model(idx)
            idx = torch.cat((idx, logits[:, -1, :].argmax(-1, keepdim=True)), dim=1)
    return log, idx, list(model.parameters())


if __name__ == "__main__":
    main()
