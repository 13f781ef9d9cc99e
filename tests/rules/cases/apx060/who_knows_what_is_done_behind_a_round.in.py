# expect: manual
import torch
import torch.nn.functional as F
from apex import amp
from timm.utils import regularize_it


def train(model, loader, optimizer, args):
    for i, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y) / args.rounds
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if (i + 1) % args.rounds == 0:
            optimizer.step()
            optimizer.zero_grad()


def main(args, model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for epoch in range(args.epochs):
        train(model, loader, optimizer, args)
        regularize_it(model, args.world_size, True)


main(parse(), Net(), loader)
