import torch
import torch.nn.functional as F
from apex import amp


def perturb(model, x, y, step, rounds, opt=None):
    delta = torch.zeros_like(x).uniform_(-0.1, 0.1)
    delta.requires_grad = True
    for _ in range(rounds):
        loss = F.cross_entropy(model(x + delta), y)
        if opt is not None:
            with amp.scale_loss(loss, opt) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        grad = delta.grad.detach()
        if opt is not None:
            grad = torch.sign(grad)
        delta.data = (delta + step * grad).clamp(-0.2, 0.2)
        delta.grad.zero_()
    return delta.detach()


def robustness(model, batches):
    total, hits = 0.0, 0
    model.eval()
    for x, y in batches:
        delta = perturb(model, x, y, 0.05, 2)
        with torch.no_grad():
            output = model(x + delta)
            total += F.cross_entropy(output, y).item()
            hits += (output.max(1)[1] == y).sum().item()
    return total, hits
