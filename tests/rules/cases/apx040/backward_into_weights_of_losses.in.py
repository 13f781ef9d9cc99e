# expect: manual runs beside a scaled backward of the same step
import torch
import torch.nn.functional as F
from apex import amp


def train(loader):
    model = torch.nn.Linear(4, 2)
    weights = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    weigher = torch.optim.SGD([weights], lr=0.01)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        out = model(x)
        losses = torch.stack([F.cross_entropy(out, y), F.mse_loss(out[:, 0], x[:, 0])])
        total = (weights.detach() * losses).sum()
        optimizer.zero_grad()
        with amp.scale_loss(total, optimizer) as scaled_loss:
            scaled_loss.backward(retain_graph=True)
        norms = [torch.autograd.grad(w * l, model.weight, retain_graph=True, create_graph=True)[0].norm()
                 for w, l in zip(weights, losses)]
        balance = (torch.stack(norms) - torch.stack(norms).mean().detach()).abs().sum()
        weigher.zero_grad()
        balance.backward(inputs=[weights])
        weigher.step()
        optimizer.step()
