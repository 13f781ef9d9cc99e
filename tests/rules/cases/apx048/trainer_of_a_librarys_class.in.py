# expect: review chooses the native side beside it now
import contextlib
import torch
from torch import nn
import transformers
from transformers.utils import is_apex_available, is_sagemaker_mp_enabled

if is_apex_available():
    from apex import amp


class Trainer(transformers.Trainer):
    def __init__(self, model=None, args=None, **kwargs):
        self.model, self.args = model, args
        # Mixed precision setup
        self.use_apex = False
        self.use_cuda_amp = False
        self.use_cpu_amp = False
        self.do_grad_scaling = False
        if (args.fp16 or args.bf16) and not args.deepspeed:
            # deepspeed and SageMaker Model Parallel manage their own half precision
            if args.half_precision_backend == "cuda_amp":
                self.use_cuda_amp = True
                self.amp_dtype = torch.float16 if args.fp16 else torch.bfloat16
                self.do_grad_scaling = True
                self.scaler = torch.cuda.amp.GradScaler()
            elif args.half_precision_backend == "cpu_amp":
                self.use_cpu_amp = True
                self.amp_dtype = torch.bfloat16
            else:
                if not is_apex_available():
                    raise ImportError("Using FP16 with APEX but APEX is not installed")
                self.use_apex = True

    def _wrap_model(self, model, training=True, dataloader=None):
        if self.use_apex and training:
            model, self.optimizer = amp.initialize(model, self.optimizer, opt_level=self.args.fp16_opt_level)
        if self.args.n_gpu > 1:
            model = nn.DataParallel(model)
        return model

    def compute_loss_context_manager(self):
        return contextlib.ExitStack()

    def autocast_smart_context_manager(self):
        if self.use_cuda_amp or self.use_cpu_amp:
            ctx_manager = torch.cuda.amp.autocast(dtype=self.amp_dtype)
        else:
            ctx_manager = contextlib.nullcontext()
        return ctx_manager

    def training_step(self, model, inputs):
        model.train()
        with self.autocast_smart_context_manager():
            loss = self.compute_loss(model, inputs)
        if self.do_grad_scaling:
            self.scaler.scale(loss).backward()
        elif self.use_apex:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        elif self.deepspeed:
            loss = self.deepspeed.backward(loss)
        else:
            loss.backward()
        return loss.detach()

    def _inner_training_loop(self, batches, args):
        model = self._wrap_model(self.model)
        for step, inputs in enumerate(batches):
            self.training_step(model, inputs)
            if args.max_grad_norm is not None and args.max_grad_norm > 0 and not self.deepspeed:
                if self.do_grad_scaling:
                    self.scaler.unscale_(self.optimizer)
                if hasattr(model, "clip_grad_norm_"):
                    model.clip_grad_norm_(args.max_grad_norm)
                else:
                    nn.utils.clip_grad_norm_(
                        amp.master_params(self.optimizer) if self.use_apex else model.parameters(),
                        args.max_grad_norm,
                    )
            optimizer_was_run = True
            if self.deepspeed:
                pass
            elif self.do_grad_scaling:
                scale_before = self.scaler.get_scale()
                self.scaler.step(self.optimizer)
                self.scaler.update()
                scale_after = self.scaler.get_scale()
                optimizer_was_run = scale_before <= scale_after
            else:
                self.optimizer.step()
            if optimizer_was_run and not self.deepspeed:
                self.lr_scheduler.step()
            model.zero_grad()
