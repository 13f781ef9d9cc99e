import torch
from packaging import version

_use_native_amp = False
_use_apex = False

LIMITS = [1.0, 5.0]
if torch.cuda.is_available():
    LIMITS = [1.0]

if version.parse(torch.__version__) < version.parse("1.6"):
    from transformers.file_utils import is_apex_available

    if is_apex_available():
        from apex import amp
    _use_apex = True
else:
    _use_native_amp = True
    from torch.cuda.amp import autocast


class Trainer:
    def train(self, model, optimizer):
        if self.args.fp16 and _use_apex:
            if not is_apex_available():
                raise ImportError("Please install apex to use fp16 training.")
            model, optimizer = amp.initialize(model, optimizer, opt_level=self.args.fp16_opt_level)
        for batch in self.batches:
            self.training_step(model, batch)
            if self.args.fp16 and _use_native_amp:
                self.scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), LIMITS[0])
            elif self.args.fp16:
                torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), LIMITS[0])
            else:
                torch.nn.utils.clip_grad_norm_(model.parameters(), LIMITS[0])
            if self.args.fp16 and _use_native_amp:
                self.scaler.step(optimizer)
                self.scaler.update()
            else:
                optimizer.step()
