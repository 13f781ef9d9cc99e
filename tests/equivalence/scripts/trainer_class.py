# expect: safe
# shape: Trainer class with self.model, self.optimizer and self.amp flag, train step / optimizer step / clip in separate methods
# casts: real
# argv: --fp16
# argv:

import argparse

import torch
import torch.nn as nn


class Trainer:
    def __init__(self, args, model):
        self.args = args
        self.model = model.to(args.device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        self.lr_scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2, gamma=0.5)
        if args.fp16:
            if not is_apex_available():
                raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def train(self, batches):
        self.model.zero_grad()
        tr_loss = 0.0
        for step, inputs in enumerate(batches):
            tr_loss += self.training_step(inputs)
            if (step + 1) % self.args.accumulate == 0:
                self.clip()
                self.optimizer_step()
            print("%d %.7f" % (step, tr_loss / (step + 1)))

    def training_step(self, inputs):
        self.model.train()
        x, y = [t.to(self.args.device) for t in inputs]
        outputs = self.model(x)
        loss = nn.functional.cross_entropy(outputs, y)
        if self.args.accumulate > 1:
            loss = loss / self.args.accumulate
        if self.args.fp16:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        return loss.item()

    def clip(self):
        if self.args.fp16:
            torch.nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), self.args.max_grad_norm)
        else:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.args.max_grad_norm)

    def optimizer_step(self):
        self.optimizer.step()
        self.lr_scheduler.step()
        self.model.zero_grad()


try:
    from apex import amp
    _has_apex = True
except ImportError:
    _has_apex = False


def is_apex_available():
    return _has_apex


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", action="store_true")
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--accumulate", type=int, default=2)
    parser.add_argument("--max_grad_norm", type=float, default=0.3)
    args = parser.parse_args()
    args.device = torch.device("cuda")
    torch.manual_seed(80)
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 3))
    Trainer(args, net).train([(torch.randn(3, 4), torch.tensor([0, 1, 2])) for _ in range(8)])
