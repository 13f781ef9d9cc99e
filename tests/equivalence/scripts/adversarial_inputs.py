# expect: review: after an overflow in an attack Apex left the next step out, though its gradients were thrown away
# shape: attacks on the input (FGSM, PGD) read gradients of tensors that no optimizer holds

import torch
import torch.nn.functional as F
from apex import amp


def fgsm_on_batch(model, optimizer, images, targets, eps):
    images.requires_grad = True
    loss = F.cross_entropy(model(images), targets)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    data_grad = images.grad.data
    return torch.clamp(images + eps * data_grad.sign(), -2, 2).detach()


def pgd(model, optimizer, x, y, eps, alpha, k):
    x_adv = x.detach() + torch.zeros_like(x).uniform_(-eps, eps)
    for _ in range(k):
        x_adv.requires_grad_()
        loss = F.cross_entropy(model(x_adv), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        x_adv = x_adv.detach() + alpha * x_adv.grad.sign()
        x_adv = torch.min(torch.max(x_adv, x - eps), x + eps).detach()
    return x_adv


def main():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", verbosity=0)
    loader = [(torch.randn(4, 6).cuda(), torch.randint(0, 3, (4,)).cuda()) for _ in range(5)]
    losses = []
    for i, (images, targets) in enumerate(loader):
        images, targets = images.float(), targets.long()
        if i % 2:
            x_adv = fgsm_on_batch(model, optimizer, images, targets, 0.1)
        else:
            x_adv = pgd(model, optimizer, images, targets, 0.2, 0.05, 3)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x_adv), targets)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
        optimizer.step()
        losses.append(loss.item())
    print(losses, [p.detach() for p in model.parameters()])


main()
