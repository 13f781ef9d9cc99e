# expect: safe
# casts: real

# SMART-ish smoothness regularizer: the noise direction comes from torch.autograd.grad, unscaled.
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def kl(a, b):
    return F.kl_div(F.log_softmax(a, -1), F.softmax(b.detach(), -1), reduction='batchmean')


def sym_kl(a, b):
    return kl(a, b) + kl(b, a)


class Model(nn.Module):
    def __init__(self, vocab=20, d=8, c=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.ff = nn.Sequential(nn.Linear(d, 16), nn.GELU(), nn.Linear(16, d))
        self.cls = nn.Linear(d, c)

    def from_embed(self, e):
        return self.cls((e + self.ff(e)).mean(1))

    def forward(self, x):
        return self.from_embed(self.embed(x))


def adv_loss(model, logits, x, noise_var=1e-1, step_size=1e-1, steps=1):
    embed = model.embed(x)
    noise = torch.randn(embed.shape) * noise_var
    noise.requires_grad_()
    for _ in range(steps):
        adv_logits = model.from_embed(embed.detach() + noise)
        loss = F.kl_div(F.log_softmax(adv_logits.float(), -1), F.softmax(logits.detach().float(), -1), reduction='sum')
        delta_grad, = torch.autograd.grad(loss, noise, only_inputs=True)
        if torch.isnan(delta_grad.norm()):
            return 0
        step = delta_grad / (delta_grad.norm(dim=-1, keepdim=True) + 1e-6)
        noise = (noise + step_size * step).detach().requires_grad_()
    return sym_kl(model.from_embed(embed + noise.detach()), logits)


def main():
    torch.manual_seed(77)
    m = Model()
    opt = torch.optim.Adam(m.parameters(), lr=5e-3)
    m, opt = amp.initialize(m, opt, opt_level="O1")
    hist = []
    for i in range(5):
        x = torch.randint(0, 20, (8, 6))
        y = x[:, 0] % 3
        logits = m(x)
        loss = F.cross_entropy(logits, y)
        reg = adv_loss(m, logits, x)
        loss = loss + 0.5 * reg
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled_loss:
            scaled_loss.backward()
        nn.utils.clip_grad_norm_(m.parameters(), 1.0)
        opt.step()
        hist.append(loss.item())
    m.eval()
    with torch.no_grad():
        final = m(torch.arange(12).view(2, 6)).float()
    return hist, final


if __name__ == '__main__':
    main()
