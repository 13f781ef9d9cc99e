# expect: review: opt_level, keep_batchnorm_fp32 and loss_scale come from the command line
# shape: the Apex imagenet example, all three from free arguments
# casts: real
# argv: --opt-level O1
# argv: --opt-level O1 --loss-scale dynamic

import argparse

import torch
import torch.nn as nn

try:
    from apex import amp
except ImportError:
    raise ImportError("Please install apex from https://www.github.com/nvidia/apex to run this example.")


def parse():
    parser = argparse.ArgumentParser(description='PyTorch ImageNet Training')
    parser.add_argument('--lr', '--learning-rate', default=0.1, type=float)
    parser.add_argument('--opt-level', type=str, default='O1')
    parser.add_argument('--keep-batchnorm-fp32', type=str, default=None)
    parser.add_argument('--loss-scale', type=str, default=None)
    return parser.parse_args()


def main():
    global args
    args = parse()
    print("opt_level = {}".format(args.opt_level))
    torch.manual_seed(57)
    model = nn.Sequential(nn.Conv2d(1, 2, 3, bias=False), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))
    model = model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, weight_decay=1e-4)

    # Initialize Amp.  Amp accepts either values or strings for the optional override arguments,
    # for convenient interoperation with argparse.
    model, optimizer = amp.initialize(model, optimizer,
                                      opt_level=args.opt_level,
                                      keep_batchnorm_fp32=args.keep_batchnorm_fp32,
                                      loss_scale=args.loss_scale
                                      )
    criterion = nn.CrossEntropyLoss().cuda()
    train(model, criterion, optimizer)


def train(model, criterion, optimizer):
    model.train()
    for i in range(5):
        input, target = torch.rand(4, 1, 4, 4).cuda(), torch.randint(0, 3, (4,)).cuda()
        # compute output
        output = model(input)
        loss = criterion(output, target)

        # compute gradient and do SGD step
        optimizer.zero_grad()

        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print('{0} Loss {1:.10f}'.format(i, loss.item()))


if __name__ == '__main__':
    main()
