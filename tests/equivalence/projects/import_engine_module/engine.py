import torch
import torch.nn as nn
from apex import amp


def loss_fn(outputs, targets):
    return nn.CrossEntropyLoss()(outputs, targets)


def train_fn(data_loader, model, optimizer, device, scheduler):
    model.train()
    fin = []
    for bi, (x, y) in enumerate(data_loader):
        x = x.to(device, dtype=torch.float)
        y = y.to(device, dtype=torch.long)
        optimizer.zero_grad()
        outputs = model(x)
        loss = loss_fn(outputs, y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        fin.append(loss.item())
    scheduler.step()
    return sum(fin)


def eval_fn(data_loader, model, device):
    model.eval()
    fin = []
    with torch.no_grad():
        for x, y in data_loader:
            out = model(x.to(device))
            fin += torch.softmax(out, 1)[:, 1].cpu().numpy().tolist()
    return fin
