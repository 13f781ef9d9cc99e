# expect: review: is decided at run time
# shape: folds: a closure evaluates in both arms, and training has one

import argparse
import torch
from torch import nn
import torch.nn.functional as F
from apex import amp

def test_step(model, x, y):
    logits = model(x)
    return F.cross_entropy(logits, y), (logits.argmax(1) == y).float().mean()

def train_step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
    optimizer.step()
    return loss

def train(args):
    overall = []
    for fold in range(2):
        model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
        data = [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(3)]

        def val_step(loader):
            model.eval()
            losses = []
            for x, y in loader:
                with torch.no_grad():
                    loss, acc = test_step(model, x, y)
                losses.append(loss.item())
            model.train()
            return sum(losses) / len(losses)

        if args.do_train:
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
            model, optimizer = amp.initialize(model, optimizer, opt_level=args.fp16_opt_level)
            for x, y in data:
                loss = train_step(model, optimizer, x, y)
                overall.append(loss.item())
            overall.append(val_step(data))
        else:
            overall.append(val_step(data))
    return overall

def main(argv=('--do_train',)):
    torch.manual_seed(0)
    parser = argparse.ArgumentParser()
    parser.add_argument('--do_train', action='store_true')
    parser.add_argument('--fp16_opt_level', default='O1')
    out = train(parser.parse_args([]))
    return out + train(parser.parse_args(list(argv)))
if __name__ == '__main__':
    for value in main():
        print(value)
