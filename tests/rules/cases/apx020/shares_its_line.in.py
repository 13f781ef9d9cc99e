import torch
import torch.nn.functional as F
from apex import amp


def main(loader):
    model = torch.nn.Linear(4, 2); optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1"); losses = []
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels); optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss: scaled_loss.backward()
        optimizer.step(); losses.append(loss.item()); print("a line of several statements that is longer than any")
    return losses
