import torch
import torch.nn as nn
from apex import amp

from attacks import robustness


def main():
    torch.manual_seed(1)
    model = nn.Linear(4, 3)
    opt = torch.optim.Adam(model.parameters(), lr=0.05)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    batches = [(torch.randn(6, 4), torch.randint(0, 3, (6,))) for _ in range(3)]
    for x, y in batches:
        noise = torch.autograd.Variable(x[0:6], requires_grad=True)
        loss = nn.functional.cross_entropy(model(noise), y)
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled_loss:
            scaled_loss.backward()
        x += 0.01 * noise.grad.sign()
        opt.step()
    return robustness(model, batches), list(model.parameters())


if __name__ == "__main__":
    main()
