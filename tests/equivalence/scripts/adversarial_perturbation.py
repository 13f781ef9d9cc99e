# expect: safe
# shape: FreeLB, a perturbation follows its own gradient while those of the parameters add up

import torch
import torch.nn.functional as F
from apex import amp


def main():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", verbosity=0)
    losses = []
    for _ in range(4):
        inputs, targets = torch.randn(4, 6).cuda(), torch.randint(0, 3, (4,)).cuda()
        delta = torch.zeros_like(inputs).uniform_(-1, 1) * 0.1
        delta = delta.detach()
        for astep in range(3):
            delta.requires_grad_()
            loss = F.cross_entropy(model(delta + inputs), targets) / 3
            losses.append(loss.item())
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            if astep == 2:
                break
            delta_grad = delta.grad.clone().detach()
            denorm = torch.clamp(torch.norm(delta_grad, dim=1).view(-1, 1), min=1e-8)
            delta = (delta + 0.1 * delta_grad / denorm).detach()
        torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
        optimizer.step()
        model.zero_grad()
    print(losses, [p.detach() for p in model.parameters()])


main()
