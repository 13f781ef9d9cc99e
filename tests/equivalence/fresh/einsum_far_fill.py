# expect: review: einsum's float32 becomes half, and is filled with a number that half has not

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

class CosineAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x, mask):
        q, k = F.normalize(self.q(x), dim=-1), F.normalize(self.k(x), dim=-1)
        sim = torch.einsum("bid,bjd->bij", q, k) * 10
        sim = sim.masked_fill(mask[:, None, :], -1e9)
        return torch.einsum("bij,bjd->bid", F.softmax(sim, dim=-1), self.v(x).float())

def main():
    torch.manual_seed(0)
    model = CosineAttention(6)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    mask = torch.zeros(2, 5, dtype=torch.bool)
    mask[:, 4] = True
    for _ in range(3):
        x = torch.randn(2, 5, 6)
        loss = F.mse_loss(model(x, mask), x)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    return [loss, list(model.parameters())]

if __name__ == "__main__":
    main()
