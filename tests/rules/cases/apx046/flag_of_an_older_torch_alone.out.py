import torch
from packaging import version

_use_native_amp = True
from torch.cuda.amp import autocast


class Trainer:
    def train(self, model, loader):
        if self.args.fp16 and _use_native_amp:
            self.scaler = torch.cuda.amp.GradScaler()
        for x in loader:
            self.training_step(model, x)
            if self.args.fp16 and _use_native_amp:
                self.scaler.unscale_(self.optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            else:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            if self.args.fp16 and _use_native_amp:
                self.scaler.step(self.optimizer)
                self.scaler.update()
            else:
                self.optimizer.step()
