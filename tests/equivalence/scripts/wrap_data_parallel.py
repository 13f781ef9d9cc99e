# expect: safe
# shape: DataParallel and DistributedDataParallel round the model after initialize, loss.mean() over the devices
# argv: --n_gpu 2
# argv: --n_gpu 2 --fp16
# argv: --fp16

import argparse

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x, labels):
        return (nn.functional.cross_entropy(self.fc(x), labels),)


def train(args, model):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    if args.fp16:
        try:
            from apex import amp
        except ImportError:
            raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")

        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")

    # multi-gpu training (should be after apex fp16 initialization)
    if args.n_gpu > 1:
        model = torch.nn.DataParallel(model)

    # Distributed training (should be after apex fp16 initialization)
    if args.local_rank != -1:
        model = torch.nn.parallel.DistributedDataParallel(
            model, device_ids=[args.local_rank], output_device=args.local_rank, find_unused_parameters=True)

    for step in range(4):
        model.train()
        inputs = {"x": torch.randn(3, 4).to(args.device), "labels": torch.tensor([0, 1, 2]).to(args.device)}
        loss = model(**inputs)[0]
        if args.n_gpu > 1:
            loss = loss.mean()
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        model.zero_grad()
        print("%d %.6f" % (step, loss.item()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", action="store_true")
    parser.add_argument("--n_gpu", type=int, default=1)
    parser.add_argument("--local_rank", type=int, default=-1, help="For distributed training: local_rank")
    args = parser.parse_args()
    args.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(154)
    model = Model().to(args.device)
    train(args, model)
