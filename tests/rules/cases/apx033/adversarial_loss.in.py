# The loss of many a GAN: one attribute for three kinds, of which one takes no target.
import torch
import torch.nn as nn
from apex import amp


class AdversarialLoss(nn.Module):
    def __init__(self, kind="nsgan"):
        super().__init__()
        self.kind = kind
        self.register_buffer("real_label", torch.tensor(1.0))
        self.register_buffer("fake_label", torch.tensor(0.0))
        if kind == "nsgan":
            self.criterion = nn.BCELoss()
        elif kind == "lsgan":
            self.criterion = nn.MSELoss()
        elif kind == "hinge":
            self.criterion = nn.ReLU()

    def __call__(self, outputs, is_real):
        if self.kind == "hinge":
            if is_real:
                outputs = -outputs
            return self.criterion(1 + outputs).mean()
        labels = (self.real_label if is_real else self.fake_label).expand_as(outputs)
        loss = self.criterion(outputs, labels)
        return loss


def train(args, loader):
    model = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid()).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    criterion = AdversarialLoss(args.kind).cuda()
    for real, fake in loader:
        optimizer.zero_grad()
        loss = criterion(model(real), True) + criterion(model(fake), False)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
