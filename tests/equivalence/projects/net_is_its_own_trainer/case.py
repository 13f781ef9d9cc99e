# expect: review
# shape: names between double underscores; the network is its own trainer, and this file knows nothing of Apex.

import argparse
import glob
import os
import tempfile
import torch
from SpeakerNet import SpeakerNet

parser = argparse.ArgumentParser(description="SpeakerNet")
parser.add_argument('--batch_size', type=int, default=6)
parser.add_argument('--max_epoch', type=int, default=3)
parser.add_argument('--test_interval', type=int, default=2)
parser.add_argument('--lr', type=float, default=0.01)
parser.add_argument("--lr_decay", type=float, default=0.9)
parser.add_argument('--nOut', type=int, default=8)
parser.add_argument('--nClasses', type=int, default=5)
parser.add_argument('--margin', type=float, default=0.1)
parser.add_argument('--scale', type=float, default=10)
parser.add_argument('--save_path', type=str, default=None)
parser.add_argument('--initial_model', type=str, default="")
parser.add_argument('--mixedprec', dest='mixedprec', action='store_true', help='Enable mixed precision training')
parser.set_defaults(mixedprec=True)


def loader(args, seed):
    g = torch.Generator().manual_seed(seed)
    for _ in range(4):
        yield torch.randn(args.batch_size, 2, 10, generator=g), torch.randint(0, args.nClasses, (args.batch_size,), generator=g)


def main():
    args = parser.parse_args([])
    args.save_path = tempfile.mkdtemp()
    torch.manual_seed(6)
    s = SpeakerNet(**vars(args))
    it = 1
    modelfiles = glob.glob('%s/model0*.model' % args.save_path)
    modelfiles.sort()
    if len(modelfiles) >= 1:
        s.loadParameters(modelfiles[-1])
        it = int(os.path.splitext(os.path.basename(modelfiles[-1]))[0][5:]) + 1
    elif args.initial_model != "":
        s.loadParameters(args.initial_model)
    for ii in range(1, it):
        s.__scheduler__.step()
    out = []
    while it <= args.max_epoch:
        clr = [x['lr'] for x in s.__optimizer__.param_groups]
        loss, traineer = s.train_network(loader(args, it))
        print('Epoch %d LR %f TEER/TAcc %2.2f TLOSS %f' % (it, max(clr), traineer, loss))
        out.append((loss, traineer))
        if it % args.test_interval == 0:
            out.append(s.evaluate(loader(args, 100)))
            s.saveParameters(args.save_path + "/model%09d.model" % it)
        it += 1
    return out, list(s.__S__.parameters()), list(s.__L__.parameters())


if __name__ == '__main__':
    main()
