# expect: review
# shape: the backward asks whether the optimizer is a wrapper; the step is taken by the wrapper, in a file without Apex

import argparse
import torch
from data import make_batches
from net import Seq2Seq, LabelSmoothing
from optim import NoamOpt
from updater import CustomUpdater, CustomEvaluator


def get_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument('--train-dtype', default="O1", choices=["float16", "float32", "float64", "O0", "O1", "O2", "O3"],
                        help='Data type for training (only pytorch backend). O0,O1,.. flags require apex.')
    parser.add_argument('--accum-grad', default=2, type=int)
    parser.add_argument('--grad-clip', default=5, type=float)
    parser.add_argument('--epochs', default=2, type=int)
    parser.add_argument('--seed', default=1, type=int)
    return parser


def train(args):
    torch.manual_seed(args.seed)
    model = Seq2Seq(10, 8)
    criterion = LabelSmoothing(10, 0.1)
    if args.train_dtype in ("float16", "float32", "float64"):
        dtype = getattr(torch, args.train_dtype)
    else:
        dtype = torch.float32
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = model.to(device=device, dtype=dtype)
    optimizer = torch.optim.Adam(model.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9)

    # setup apex.amp
    if args.train_dtype in ("O0", "O1", "O2", "O3"):
        try:
            from apex import amp
        except ImportError as e:
            print(f"You need to install apex for --train-dtype {args.train_dtype}.")
            raise e
        model, optimizer = amp.initialize(model, optimizer, opt_level=args.train_dtype)
        use_apex = True
    else:
        use_apex = False
    noam = NoamOpt(8, 1.0, 4, optimizer)
    updater = CustomUpdater(model, criterion, args.grad_clip, make_batches(4, 1), noam, device, args.accum_grad, use_apex=use_apex)
    evaluator = CustomEvaluator(model, criterion, make_batches(2, 2), device)
    report = []
    while updater.epoch < args.epochs:
        updater.update()
        if updater.is_new_epoch:
            report.append((updater.epoch, evaluator.evaluate(), noam._rate))
            print('epoch %d  val %.4f  lr %.5f  iteration %d' % (*report[-1], updater.iteration))
    return report, updater.observed, list(model.parameters())


def main():
    return train(get_parser().parse_args([]))


if __name__ == '__main__':
    main()
