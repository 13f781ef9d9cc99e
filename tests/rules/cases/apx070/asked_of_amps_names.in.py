# expect: review will not load
import argparse

import torch
from apex import amp

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true")
parser.add_argument("--resume", default="")


def main():
    args = parser.parse_args()
    model = torch.nn.Linear(8, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    use_amp = False
    if args.amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        use_amp = True
    state = {}
    if args.resume:
        state = torch.load(args.resume)
    if use_amp and "amp" in state and "load_state_dict" in amp.__dict__:
        amp.load_state_dict(state["amp"])
    for i in range(10):
        loss = model(torch.randn(4, 8).cuda()).mean()
        optimizer.zero_grad()
        if use_amp:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()


main()
