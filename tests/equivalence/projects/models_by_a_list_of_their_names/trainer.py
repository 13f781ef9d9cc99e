import apex
import torch
import torch.nn.functional as F
from torch.nn.utils import clip_grad_norm_


class Trainer:
    def __init__(self, params):
        assert params.amp >= 0 or params.accumulate_gradients == 1
        self.optimizers = {"model": torch.optim.SGD(self.model.parameters(), lr=0.1)}
        if params.amp >= 0:
            self.init_amp()
        self.n_iter = 0

    def init_amp(self):
        params = self.params
        opt_names = self.optimizers.keys()
        models = [getattr(self, name) for name in self.MODEL_NAMES]
        models, optimizers = apex.amp.initialize(
            models, [self.optimizers[k] for k in opt_names], opt_level=("O%i" % params.amp)
        )
        for name, model in zip(self.MODEL_NAMES, models):
            setattr(self, name, model)
        self.optimizers = {opt_name: optimizer for opt_name, optimizer in zip(opt_names, optimizers)}

    def optimize(self, loss):
        params = self.params
        names = self.optimizers.keys()
        optimizers = [self.optimizers[k] for k in names]
        if params.amp == -1:
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss.backward()
            if params.clip_grad_norm > 0:
                for name in names:
                    clip_grad_norm_(self.model.parameters(), params.clip_grad_norm)
            for optimizer in optimizers:
                optimizer.step()
        elif self.n_iter % params.accumulate_gradients == 0:
            with apex.amp.scale_loss(loss, optimizers) as scaled_loss:
                scaled_loss.backward()
            if params.clip_grad_norm > 0:
                for name in names:
                    clip_grad_norm_(apex.amp.master_params(self.optimizers[name]), params.clip_grad_norm)
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
        else:
            with apex.amp.scale_loss(loss, optimizers, delay_unscale=True) as scaled_loss:
                scaled_loss.backward()


class NetTrainer(Trainer):
    def __init__(self, model, params):
        self.MODEL_NAMES = ["model"]
        self.model = model
        self.params = params
        super().__init__(params)

    def step(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        self.optimize(loss)
        self.n_iter += 1
        return loss.item()
