# expect: safe
# shape: one long condition in an evaluation with several forwards, told to every helper, and an alignment that grows
# argv: --fp16
# argv:

import argparse

import torch
import torch.nn as nn

try:
    from apex import amp
except ImportError:
    amp = None

torch.manual_seed(7)


def backward(loss, optimizer, use_mixed_precision, loss_id):
    if use_mixed_precision:
        with amp.scale_loss(loss, optimizer, loss_id=loss_id) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()


def evaluate(args, model, loader, criterion):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for x, y in loader:
            out = model(x.cuda())
            total += criterion(out.float(), y.cuda()).item()
        for x, y in loader:
            flipped = model(-x.cuda())
            total += criterion(flipped.float(), y.cuda()).item()
    model.train()
    return total


def train(args, model, optimizer, loader, criterion):
    for epoch in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x.cuda()), y.cuda())
            backward(loss, optimizer, args.fp16_training and not args.full_precision, loss_id=0)
            if args.fp16_training and not args.full_precision:
                gradient_norm_of_this_step = torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer),
                                                                            args.max_grad_norm)
            else:
                gradient_norm_of_this_step = torch.nn.utils.clip_grad_norm_(model.parameters(),
                                                                            args.max_grad_norm)
            optimizer.step()
        print("%.5f" % evaluate(args, model, loader, criterion))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", dest="fp16_training", action="store_true")
    parser.add_argument("--full-precision", action="store_true")
    parser.add_argument("--max-grad-norm", type=float, default=1.0)
    args = parser.parse_args()
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).cuda()
    head = [p for p in model.parameters()][2:]
    optimizer = torch.optim.SGD([{"params": list(model[0].parameters())}, {"params": head, "lr": 0.05}], lr=0.1)
    if args.fp16_training and not args.full_precision:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    loader = [(torch.randn(5, 8), torch.randint(4, (5,))) for _ in range(4)]
    train(args, model, optimizer, loader, nn.CrossEntropyLoss())
    evaluate(args, model, loader, nn.CrossEntropyLoss())


if __name__ == "__main__":
    main()
