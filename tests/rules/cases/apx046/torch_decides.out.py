import torch
from packaging import version

_use_native_amp = True
from torch.cuda.amp import autocast


class Trainer:
    def __init__(self, args, model):
        self.args, self.model = args, model
        self.optim = torch.optim.SGD(model.parameters(), lr=0.1)
        if args.fp16 and _use_native_amp:
            self.scaler = torch.cuda.amp.GradScaler()

    def train(self, loader):
        for batch in loader:
            if self.args.fp16 and _use_native_amp:
                with autocast():
                    loss = self.model.train_step(batch)
            else:
                loss = self.model.train_step(batch)
            if self.args.fp16 and _use_native_amp:
                self.scaler.scale(loss).backward()
            else:
                loss.backward()
            if self.args.fp16:
                self.scaler.unscale_(self.optim)
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            if self.args.fp16 and _use_native_amp:
                self.scaler.step(self.optim)
                self.scaler.update()
            else:
                self.optim.step()
            self.optim.zero_grad()
