"""Train a ResNet-50 on CIFAR-10 with mixed precision."""
import argparse

import torch
import torch.nn as nn
import torch.optim as optim
import torchvision
import torchvision.transforms as transforms

try:
    from apex import amp
except ImportError:
    raise ImportError("Please install apex from https://www.github.com/nvidia/apex to run this example.")


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="data")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--accumulate", type=int, default=2, help="batches per optimizer step")
    parser.add_argument("--max-norm", type=float, default=1.0)
    parser.add_argument("--fp16", action="store_true")
    parser.add_argument("--opt-level", default="O1", choices=["O0", "O1"])
    parser.add_argument("--resume", default="")
    return parser.parse_args()


def evaluate(model, loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for images, labels in loader:
            logits = model(images.cuda())
            correct += (logits.argmax(dim=1) == labels.cuda()).sum().item()
    return correct / len(loader.dataset)


def main():
    args = parse_args()
    to_tensor = transforms.ToTensor()
    train_set = torchvision.datasets.CIFAR10(args.data, train=True, download=True, transform=to_tensor)
    test_set = torchvision.datasets.CIFAR10(args.data, train=False, download=True, transform=to_tensor)
    train_loader = torch.utils.data.DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    test_loader = torch.utils.data.DataLoader(test_set, batch_size=args.batch_size)

    model = torchvision.models.resnet50(num_classes=10).cuda()
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level=args.opt_level)

    start = 0
    if args.resume:
        checkpoint = torch.load(args.resume)
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        if args.fp16:
            amp.load_state_dict(checkpoint["amp"])
        start = checkpoint["epoch"] + 1

    for epoch in range(start, args.epochs):
        model.train()
        for step, (images, labels) in enumerate(train_loader):
            images, labels = images.cuda(), labels.cuda()
            logits = model(images)
            loss = criterion(logits, labels) / args.accumulate
            if args.fp16:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            if (step + 1) % args.accumulate == 0:  # the gradients of several batches add up
                if args.fp16:
                    nn.utils.clip_grad_norm_(amp.master_params(optimizer), args.max_norm)
                else:
                    nn.utils.clip_grad_norm_(model.parameters(), args.max_norm)
                optimizer.step()
                optimizer.zero_grad()

        print(f"epoch {epoch}: accuracy {evaluate(model, test_loader):.4f}")
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        if args.fp16:
            state["amp"] = amp.state_dict()
        torch.save(state, "checkpoint.pt")


if __name__ == "__main__":
    main()
