# expect: safe
# shape: initialize without an optimizer, keyword enabled, evaluation under no_grad
# argv: --fp16
# argv:

import argparse

import torch
import torch.nn as nn
from apex import amp


def evaluate(model, batches):
    model.eval()
    n_correct, n_ex = 0, 0
    with torch.no_grad():
        for x, y in batches:
            scores = model(x.cuda())
            n_correct += (scores.max(dim=-1)[1] == y.cuda()).sum().item()
            n_ex += y.size(0)
            print("scores", ["%.5f" % v for v in scores.float().sum(0).tolist()])
    return n_correct / n_ex


def main(opts):
    torch.manual_seed(38)
    model = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 3)).cuda()
    model = amp.initialize(model, enabled=opts.fp16, opt_level='O1')
    batches = [(torch.randn(5, 6), torch.randint(0, 3, (5,))) for _ in range(3)]
    print("accuracy %.3f" % evaluate(model, batches))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--fp16', action='store_true', help='fp16 inference')
    main(parser.parse_args())
