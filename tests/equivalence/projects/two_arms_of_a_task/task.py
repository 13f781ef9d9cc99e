import contextlib
import enum
import logging

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.cuda.amp import GradScaler as TorchGradScaler

try:
    import apex

    apex_available = True
except ImportError:
    apex_available = False


class AmpType(enum.Enum):
    APEX = enum.auto()
    PYTORCH = enum.auto()


class Task:
    def __init__(self, model, period=1, max_norm=None):
        self.base_model = model
        self.period = period
        self.max_norm = max_norm
        self.num_updates = 0
        self.amp_args = None
        self.amp_type = None
        self.amp_grad_scaler = None
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def set_amp_args(self, amp_args):
        self.amp_args = amp_args
        if amp_args is None:
            logging.info("AMP disabled")
        else:
            try:
                self.amp_type = AmpType[self.amp_args["amp_type"].upper()]
            except KeyError:
                logging.info("AMP type not specified, defaulting to Apex")
                self.amp_type = AmpType.APEX
            if self.amp_type == AmpType.APEX and not apex_available:
                raise RuntimeError("Apex AMP is required but Apex is not installed, cannot enable AMP")
            elif self.amp_type == AmpType.PYTORCH:
                self.amp_grad_scaler = TorchGradScaler()
        return self

    def prepare(self):
        if self.amp_args is not None:
            if self.amp_type == AmpType.APEX:
                self.base_model, self.optimizer = apex.amp.initialize(
                    self.base_model, self.optimizer, **self.amp_args
                )

    def _should_do_step(self):
        return self.num_updates % self.period == self.period - 1

    def train_step(self, batch):
        x, y = batch
        torch_amp_context = (
            torch.cuda.amp.autocast() if self.amp_type == AmpType.PYTORCH else contextlib.suppress()
        )
        with torch.enable_grad(), torch_amp_context:
            output = self.base_model(x.cuda())
            loss = F.cross_entropy(output, y.cuda())
        self.run_optimizer(loss)
        self.num_updates += 1
        return loss.item()

    def run_optimizer(self, loss):
        do_step = self._should_do_step()
        if self.num_updates % self.period == 0:
            self.optimizer.zero_grad()
        if self.amp_type == AmpType.APEX:
            with apex.amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        elif self.amp_type == AmpType.PYTORCH:
            self.amp_grad_scaler.scale(loss).backward()
        else:
            loss.backward()
        if do_step:
            if self.max_norm is not None:
                self._clip_gradients(self.max_norm)
            if self.amp_type == AmpType.PYTORCH:
                self.amp_grad_scaler.step(self.optimizer)
                self.amp_grad_scaler.update()
            else:
                self.optimizer.step()

    def _clip_gradients(self, max_norm):
        nn.utils.clip_grad_norm_(apex.amp.master_params(self.optimizer), max_norm)
