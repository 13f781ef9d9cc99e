# expect: safe
# shape: setup() initializes and returns model and optimizer, the loop is in another function
# argv:
# argv: --amp

import argparse
import torch
import torch.nn as nn
from apex import amp


def setup(args):
    model = nn.Sequential(nn.Linear(4, 5), nn.ELU(), nn.Linear(5, 3)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, nesterov=True, momentum=0.9)
    if args.amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    return model, optimizer


def train(args, model, optimizer):
    for step in range(6):
        x = torch.randn(4, 4).cuda()
        loss = nn.functional.cross_entropy(model(x), torch.tensor([2, 1, 0, 2]).cuda())
        optimizer.zero_grad()
        if args.amp:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        print("iter", step, "%.6f" % loss.item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(50)
    model, optimizer = setup(args)
    train(args, model, optimizer)
