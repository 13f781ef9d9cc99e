import torch

from .accelerator import Accelerator

try:
    from apex import amp
except ImportError:
    print("no apex")


class ApexAccelerator(Accelerator):
    def __init__(self, cfg, logger):
        super().__init__(cfg, logger)
        self.syncbn = self.cfg.SYNCBN
        self.opt_level = self.cfg.FP16_OPT_LEVEL

    def set_up(self, model, optimizer):
        model = model.cuda()
        model, optimizer = self.configure(model, optimizer)
        if self.syncbn:
            model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
        return model, optimizer

    def configure(self, model, optimizer):
        return amp.initialize(model, optimizer, opt_level=self.opt_level)

    def backward_step(self, loss, optimizer):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()

    def optimizer_step(self, optimizer, model, limit):
        return float(torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), limit))
