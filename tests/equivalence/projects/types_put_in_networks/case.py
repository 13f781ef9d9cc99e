# expect: review: softmax is float32 under autocast, and torch raises where it is put into a half tensor by a mask

import torch
import torch.nn.functional as F
from apex import amp

from network import Attention


def main():
    torch.manual_seed(0)
    model = Attention()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    out = []
    for _ in range(3):
        x, y = torch.randn(5, 4), torch.randint(3, (5,))
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        out.append(loss.item())
    return out, list(model.parameters())


if __name__ == "__main__":
    main()
