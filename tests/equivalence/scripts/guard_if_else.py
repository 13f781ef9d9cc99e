# expect: safe
# shape: guard if/else around scale_loss, import in a try that raises, default flag off
# argv:
# argv: --fp16

import argparse

import torch
import torch.nn as nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", action="store_true",
                        help="Whether to use 16-bit (mixed) precision (through NVIDIA apex) instead of 32-bit")
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()

    torch.manual_seed(42)
    device = torch.device("cuda")
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    criterion = nn.CrossEntropyLoss()

    if args.fp16:
        try:
            from apex import amp
        except ImportError:
            raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")

    model.train()
    for step in range(6):
        inputs = torch.randn(5, 6, device=device)
        labels = torch.randint(0, 3, (5,), device=device)
        optimizer.zero_grad()
        logits = model(inputs)
        loss = criterion(logits, labels)
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        print("step %d loss %.6f" % (step, loss.item()))


if __name__ == "__main__":
    main()
