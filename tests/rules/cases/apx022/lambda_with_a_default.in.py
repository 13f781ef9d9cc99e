# expect: manual
import torch
from apex import amp


def loss_backwards(loss, optimizer):
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()


def main(model, loader):
    opt = torch.optim.Adam(model.parameters())
    model, opt = amp.initialize(model, opt, opt_level="O1")
    backwards = lambda loss, optimizer=opt: loss_backwards(loss, optimizer)
    for x in loader:
        opt.zero_grad()
        loss = model(x)
        backwards(loss)
        opt.step()
