# expect: review chooses the native side beside it now
import torch
from packaging import version
from torch import nn
from fairscale.optim.grad_scaler import ShardedGradScaler
from transformers.file_utils import is_apex_available

_is_native_amp_available = True
if is_apex_available():
    from apex import amp

from torch.cuda.amp import autocast


class Trainer:
    def __init__(self, model, args, optimizer):
        self.model, self.args, self.optimizer = model, args, optimizer
        # Mixed precision setup
        self.use_apex = False
        self.use_amp = False
        self.fp16_backend = None

        if args.fp16:
            if args.fp16_backend == "auto":
                self.fp16_backend = "amp" if _is_native_amp_available else "apex"
            else:
                self.fp16_backend = args.fp16_backend
            logger.info(f"Using {self.fp16_backend} fp16 backend")

        if args.fp16 and not args.deepspeed:  # deepspeed manages its own fp16
            if self.fp16_backend == "amp":
                self.use_amp = True
                self.scaler = ShardedGradScaler() if args.sharded else torch.cuda.amp.GradScaler()
            else:
                if not is_apex_available():
                    raise ImportError(
                        "Using FP16 with APEX but APEX is not installed, please refer to https://www.github.com/nvidia/apex."
                    )
                self.use_apex = True

    def _wrap_model(self, model, training=True):
        # Mixed precision training with apex (torch < 1.6)
        if self.use_apex and training:
            model, self.optimizer = amp.initialize(model, self.optimizer, opt_level=self.args.fp16_opt_level)
        if self.args.n_gpu > 1:
            model = nn.DataParallel(model)
        return model

    def train(self, loader):
        args = self.args
        model = self._wrap_model(self.model)
        for step, inputs in enumerate(loader):
            self.training_step(model, inputs)
            if (step + 1) % args.gradient_accumulation_steps == 0:
                if args.max_grad_norm is not None and args.max_grad_norm > 0 and not self.args.deepspeed:
                    if self.use_amp:
                        # AMP: gradients need unscaling
                        self.scaler.unscale_(self.optimizer)
                    if hasattr(self.optimizer, "clip_grad_norm"):
                        self.optimizer.clip_grad_norm(args.max_grad_norm)
                    else:
                        # Revert to normal clipping otherwise, handling Apex or full precision
                        torch.nn.utils.clip_grad_norm_(
                            amp.master_params(self.optimizer) if self.use_apex else model.parameters(),
                            args.max_grad_norm,
                        )
                if self.use_amp:
                    self.scaler.step(self.optimizer)
                    self.scaler.update()
                else:
                    self.optimizer.step()
                model.zero_grad()

    def training_step(self, model, inputs):
        model.train()
        if self.use_amp:
            with autocast():
                loss = self.compute_loss(model, inputs)
        else:
            loss = self.compute_loss(model, inputs)
        if self.use_amp:
            self.scaler.scale(loss).backward()
        elif self.use_apex:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        return loss.detach()

    def compute_loss(self, model, inputs):
        return model(**inputs)[0]
