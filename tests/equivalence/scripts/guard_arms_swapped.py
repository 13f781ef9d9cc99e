# expect: safe
# shape: guard with its arms swapped, the amp arm is the else arm
# argv: --use_amp
# argv:

import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument('--use_amp', action='store_true')
    parser.add_argument('--n_epochs', type=int, default=2)
    args, _ = parser.parse_known_args()
    return args


def train_epoch(model, batches, optimizer):
    model.train()
    train_loss = []
    for data, target in batches:
        data, target = data.cuda(), target.cuda()
        logits = model(data)
        loss = F.cross_entropy(logits, target)
        if not args.use_amp:
            loss.backward()
        else:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        train_loss.append(loss.detach().cpu().item())
    return sum(train_loss) / len(train_loss)


def run():
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, 10), nn.Tanh(), nn.Linear(10, 2)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
    batches = [(torch.randn(6, 4), torch.randint(0, 2, (6,))) for _ in range(3)]
    if args.use_amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for epoch in range(1, args.n_epochs + 1):
        print('Epoch', epoch, 'train loss: %.7f' % train_epoch(model, batches, optimizer))


if __name__ == '__main__':
    args = parse_args()
    run()
