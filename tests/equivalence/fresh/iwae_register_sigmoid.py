# expect: review: sigmoid gets float32 where the program calls it, as Apex was told to hand it
# casts: real

import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.functional import softplus, binary_cross_entropy
import apex.amp as amp

LOG2PI = math.log(2 * math.pi)


def log_normal(x, mu, std):
    return (-0.5 * ((x - mu) / std).pow(2) - torch.log(std) - 0.5 * LOG2PI).sum(-1)


class IWAE(nn.Module):
    def __init__(self, x_dim=10, h=12, z=3, k=4):
        super().__init__()
        self.k = k
        self.enc = nn.Linear(x_dim, h)
        self.mu, self.rho = nn.Linear(h, z), nn.Linear(h, z)
        self.dec1, self.dec2 = nn.Linear(z, h), nn.Linear(h, x_dim)

    def forward(self, x, eps):
        h = torch.tanh(self.enc(x))
        mu, std = self.mu(h), softplus(self.rho(h).float()) + 1e-3
        z = mu + std * eps
        probs = torch.sigmoid(self.dec2(torch.tanh(self.dec1(z))))
        return probs, z, mu, std

    def bound(self, x, eps):
        x = x.expand(self.k, *x.shape)
        probs, z, mu, std = self(x, eps)
        log_px = -binary_cross_entropy(probs, x, reduction="none").sum(-1)
        log_pz = log_normal(z.float(), torch.zeros_like(mu).float(), torch.ones_like(std))
        log_qz = log_normal(z.float(), mu.float(), std)
        log_w = log_px + log_pz - log_qz
        return torch.logsumexp(log_w, 0) - math.log(self.k)


def main():
    torch.manual_seed(21)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = IWAE().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=2e-2, momentum=0.9)
    amp.register_float_function(torch, "sigmoid")
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", verbosity=0)
    gen = torch.Generator().manual_seed(2)
    data = (torch.rand(12, 10, generator=gen) > 0.4).float()
    history = []
    for epoch in range(2):
        for i in range(0, 12, 4):
            x = data[i:i + 4].to(device)
            eps = torch.randn(model.k, 4, 3, generator=gen).to(device)
            loss = -model.bound(x, eps).mean()
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()
            history.append(loss.item())
    model.eval()
    with torch.no_grad():
        nll = -model.bound(data.to(device), torch.randn(model.k, 12, 3, generator=gen).to(device)).mean()
    return history, nll, list(model.parameters())


if __name__ == "__main__":
    main()
