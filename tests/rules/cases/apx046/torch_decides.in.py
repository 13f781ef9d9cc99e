import torch
from packaging import version

_use_native_amp = False
_use_apex = False

# Check if Pytorch version >= 1.6 to switch between Native AMP and Apex
if version.parse(torch.__version__) < version.parse("1.6"):
    from transformers.file_utils import is_apex_available
    if is_apex_available():
        from apex import amp
    _use_apex = True
else:
    _use_native_amp = True
    from torch.cuda.amp import autocast


class Trainer:
    def __init__(self, args, model):
        self.args, self.model = args, model
        self.optim = torch.optim.SGD(model.parameters(), lr=0.1)
        if args.fp16 and _use_native_amp:
            self.scaler = torch.cuda.amp.GradScaler()
        elif _use_apex:
            self.model, self.optim = amp.initialize(self.model, self.optim, opt_level="O1")

    def train(self, loader):
        for batch in loader:
            if self.args.fp16 and _use_native_amp:
                with autocast():
                    loss = self.model.train_step(batch)
            else:
                loss = self.model.train_step(batch)
            if self.args.fp16 and _use_native_amp:
                self.scaler.scale(loss).backward()
            elif self.args.fp16 and _use_apex:
                with amp.scale_loss(loss, self.optim) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            if _use_apex:
                torch.nn.utils.clip_grad_norm_(amp.master_params(self.optim), 1.0)
            elif self.args.fp16:
                self.scaler.unscale_(self.optim)
            if not _use_apex:
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            else:
                print("clipped above")
            if self.args.fp16 and _use_native_amp:
                self.scaler.step(self.optim)
                self.scaler.update()
            else:
                self.optim.step()
            self.optim.zero_grad()
