# expect: safe

"""Gradient checkpointing in a deep encoder plus an ITM head (vision-language pretraining flavour)."""
import torch
import torch.utils.checkpoint
from torch import nn
from apex import amp
from apex.amp import master_params


class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attn_q, self.attn_k = nn.Linear(d, d), nn.Linear(d, d)
        self.ffn = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))
        self.ln = nn.LayerNorm(d)

    def forward(self, h, mask):
        scores = torch.matmul(self.attn_q(h), self.attn_k(h).transpose(1, 2)) / h.size(-1) ** 0.5
        probs = nn.functional.softmax(scores + mask, dim=-1)
        h = self.ln(h + torch.matmul(probs, h))
        return h + self.ffn(h)


class VLModel(nn.Module):
    def __init__(self, d=8, n=3, gradient_checkpointing=True):
        super().__init__()
        self.txt = nn.Embedding(20, d)
        self.img = nn.Linear(5, d)
        self.layers = nn.ModuleList([Layer(d) for _ in range(n)])
        self.itm = nn.Linear(d, 2)
        self.gradient_checkpointing = gradient_checkpointing

    def forward(self, ids, feats, lens):
        h = torch.cat([self.txt(ids), self.img(feats)], 1)
        mask = (torch.arange(h.size(1))[None, None] >= lens[:, None, None]).float() * -10000.0
        for layer in self.layers:
            if self.gradient_checkpointing and self.training:
                h = torch.utils.checkpoint.checkpoint(layer, h, mask, use_reentrant=True)
            else:
                h = layer(h, mask)
        return self.itm(h[:, 0])


def step(model, optimizer, batch, clip):
    ids, feats, lens, y = batch
    loss = nn.functional.cross_entropy(model(ids, feats, lens), y, reduction="none")
    loss = loss.mean()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    grad_norm = nn.utils.clip_grad_norm_(master_params(optimizer), clip)
    optimizer.step()
    optimizer.zero_grad()
    return loss.item(), float(grad_norm)


def main():
    torch.manual_seed(0)
    model = VLModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=[0.9, 0.98])
    model, optimizer = amp.initialize(model, optimizer, enabled=True, opt_level="O1")
    model.train()
    logs = []
    for _ in range(4):
        batch = (torch.randint(0, 20, (4, 4)), torch.randn(4, 3, 5), torch.tensor([7, 6, 5, 7]), torch.randint(0, 2, (4,)))
        logs.append(step(model, optimizer, batch, 2.0))
    model.eval()
    with torch.no_grad():
        scores = model(*batch[:3]).float().softmax(-1)
    return logs, scores


if __name__ == "__main__":
    main()
