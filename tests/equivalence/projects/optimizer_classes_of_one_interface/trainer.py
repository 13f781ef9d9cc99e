import torch
import torch.nn.functional as F
from apex import amp
from fp_optimizers import AMPOptimizer, FP32Optimizer


class Trainer:
    def __init__(self, model, math, grad_clip, loss_scaling, iter_size=1):
        self.model = model
        self.iter_size = iter_size
        if math == "fp32":
            self.fp_optimizer = FP32Optimizer(self.model, grad_clip)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.99)
        if math == "fp16":
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")
            self.fp_optimizer = AMPOptimizer(
                self.model,
                grad_clip,
                loss_scale=loss_scaling["init_scale"],
                dls_upscale_interval=loss_scaling["upscale_interval"],
            )

    def iterate(self, x, y, update=True, training=True):
        loss = F.cross_entropy(self.model(x.cuda()), y.cuda())
        loss_per_batch = loss.item()
        loss /= self.iter_size
        if training:
            self.fp_optimizer.step(loss, self.optimizer, self.scheduler, update)
        return loss_per_batch

    def feed_data(self, loader, training=True):
        out = []
        for i, (x, y) in enumerate(loader):
            update = i % self.iter_size == self.iter_size - 1
            out.append(self.iterate(x, y, update, training=training))
        return out
