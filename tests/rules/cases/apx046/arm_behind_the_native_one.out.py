import torch
from packaging import version

LIMITS = [1.0, 5.0]
if torch.cuda.is_available():
    LIMITS = [1.0]

_use_native_amp = True
from torch.cuda.amp import autocast


class Trainer:
    def train(self, model, optimizer):
        for batch in self.batches:
            self.training_step(model, batch)
            if self.args.fp16 and _use_native_amp:
                self.scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), LIMITS[0])
            else:
                torch.nn.utils.clip_grad_norm_(model.parameters(), LIMITS[0])
            if self.args.fp16 and _use_native_amp:
                self.scaler.step(optimizer)
                self.scaler.update()
            else:
                optimizer.step()
