import argparse
import torch


def train(args, model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=args.fp16)
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
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
    with torch.autocast(
        "cuda", dtype=torch.float16, enabled=args.fp16 and (args.do_train or args.do_train_val)
    ):
        print(evaluate(args, net, torch.load("test")))


if __name__ == "__main__":
    main()
