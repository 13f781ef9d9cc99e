# expect: safe
# argv: --fp16
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

try:
    from apex import amp
except ImportError:
    raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.cuda.manual_seed_all(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step in range(8):
        # one batch of made-up data
        x = torch.randn(5, 6, device=device)
        y = torch.randint(0, 3, (5,), device="cuda:0")
        out = model(x)
        loss = F.cross_entropy(out, y)
        if step == 3 and args.fp16:
            loss = loss * float("inf")
        optimizer.zero_grad()
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print("step", step, "loss", loss.item())


if __name__ == "__main__":
    main()
