# expect: safe

import torch
import torch.nn as nn

from amp_utils import get_amp
from model_io import save


def main():
    torch.manual_seed(0)
    use_fp16 = True
    amp = get_amp(use_fp16)
    model = nn.Linear(4, 2)
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    if amp:
        model, opt = amp.initialize(model, opt, opt_level="O1")
    losses = []
    for i in range(4):
        x, y = torch.randn(3, 4), torch.randint(0, 2, (3,))
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        if amp:
            with amp.scale_loss(loss, opt) as scaled:
                scaled.backward()
        else:
            loss.backward()
        opt.step()
        losses.append(loss.item())
    save(model, use_fp16)
    return losses, list(model.parameters())


if __name__ == "__main__":
    print(main())
