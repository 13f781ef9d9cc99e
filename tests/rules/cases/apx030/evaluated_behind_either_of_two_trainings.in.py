import argparse
import torch
from apex import amp


def train(args, model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
    print(evaluate(args, model, loader))


def evaluate(args, model, loader):
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", action="store_true")
    parser.add_argument("--do_train", action="store_true")
    parser.add_argument("--do_train_val", action="store_true")
    args = parser.parse_args()
    net = torch.nn.Linear(4, 4).cuda()
    if args.do_train:
        train(args, net, torch.load("train"))
    if args.do_train_val:
        train(args, net, torch.load("all"))
    net = torch.load("best")
    print(evaluate(args, net, torch.load("test")))


if __name__ == "__main__":
    main()
