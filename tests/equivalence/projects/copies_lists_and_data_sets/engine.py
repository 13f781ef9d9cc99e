import torch
import torch.nn.functional as F
from apex import amp


def fit(head, teacher, loader):
    optimizer = torch.optim.SGD(head.parameters(), lr=0.5)
    head, optimizer = amp.initialize(head, optimizer, opt_level="O1")
    log = []
    for x, y in loader:
        out = head(x.float())
        loss = F.cross_entropy(out, y) + F.mse_loss(out.float(), teacher.targets(x.float()))
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        teacher.update(head)
        log.append(loss.item())
    return log + [p.pow(2).sum().item() for p in head.parameters()]
