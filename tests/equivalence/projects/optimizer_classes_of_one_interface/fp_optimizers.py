import apex.amp._amp_state
from apex import amp
from torch.nn.utils import clip_grad_norm_


class FP32Optimizer:
    def __init__(self, model, grad_clip=None):
        self.initialize_model(model)
        self.grad_clip = grad_clip

    def initialize_model(self, model):
        self.model = model
        self.model.zero_grad()

    def step(self, loss, optimizer, scheduler, update=True):
        loss.backward()
        if update:
            if self.grad_clip != float("inf"):
                clip_grad_norm_(self.model.parameters(), self.grad_clip)
            optimizer.step()
            scheduler.step()
            self.model.zero_grad()


class AMPOptimizer:
    def __init__(self, model, grad_clip=None, loss_scale=8192, dls_upscale_interval=128):
        self.initialize_model(model)
        self.grad_clip = grad_clip

        loss_scaler = apex.amp._amp_state.loss_scalers[0]
        loss_scaler._loss_scale = loss_scale
        loss_scaler._scale_seq_len = dls_upscale_interval

    def initialize_model(self, model):
        self.model = model
        self.model.zero_grad()

    def step(self, loss, optimizer, scheduler, update=True):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if update:
            if self.grad_clip != float("inf"):
                clip_grad_norm_(amp.master_params(optimizer), self.grad_clip)
            optimizer.step()
            scheduler.step()
            self.model.zero_grad()
