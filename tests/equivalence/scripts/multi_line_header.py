# expect: safe
# shape: with header over several lines with comments, enabled= taken from the flag
# argv:
# argv: --fp16

import argparse

import torch
from torch import nn
from torch.nn import functional as F

from apex import amp


def main(opts):
    torch.manual_seed(opts.seed)
    device = torch.device("cuda", 0)
    model = nn.Sequential(nn.Linear(7, 5), nn.GELU(), nn.Linear(5, 4))
    model.to(device)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=opts.learning_rate)
    model, optimizer = amp.initialize(
        model,
        optimizer,
        # the flag decides
        enabled=opts.fp16,
        opt_level='O1',
    )
    for global_step in range(5):
        feats = torch.randn(3, 7, device=device)
        targets = torch.tensor([0, 3, 1], device=device)
        scores = model(feats)
        loss = F.cross_entropy(scores, targets, reduction='none')
        loss = loss.mean()  # loss is not normalized in model

        # backward pass
        with amp.scale_loss(
                loss,          # the mean
                optimizer,
                ) as scaled_loss:
            scaled_loss.backward()

        optimizer.step()
        optimizer.zero_grad()
        print(f"{global_step}: {loss.item():.6f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument('--seed', type=int, default=77)
    parser.add_argument('--learning_rate', default=3e-2, type=float)
    parser.add_argument('--fp16', action='store_true')
    main(parser.parse_args())
