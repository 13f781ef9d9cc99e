import copy
import torch
from torch.nn.utils import clip_grad_norm_
import apex


class Trainer(object):
    def __init__(self, params):
        self.params = params
        # set parameters
        self.set_parameters()
        # set optimizers
        self.set_optimizers()
        # float16 / distributed (AMP)
        if params.fp16:
            self.init_amp()
        self.n_iter = self.n_total_iter = self.n_sentences = 0
        self.stats = {'MLM': [], 'norm': []}
        self.saved = []
        g = torch.Generator().manual_seed(3)
        self.batches = [(torch.randint(0, 20, (6,), generator=g), torch.randint(0, 20, (6,), generator=g)) for _ in range(4)]

    def set_parameters(self):
        self.parameters = {'model': [p for _, p in self.model.named_parameters() if p.requires_grad]}

    def set_optimizers(self):
        self.optimizers = {'model': torch.optim.Adam(self.parameters['model'], lr=1e-2)}

    def init_amp(self):
        """Initialize AMP optimizer."""
        params = self.params
        opt_names = self.optimizers.keys()
        models = [self.model]
        models, optimizers = apex.amp.initialize(models, [self.optimizers[k] for k in opt_names], opt_level=params.fp16_opt_level)
        self.model = models[0]
        self.optimizers = {opt_name: optimizer for opt_name, optimizer in zip(opt_names, optimizers)}

    def optimize(self, loss):
        """Optimize."""
        # check NaN
        if (loss != loss).data.any():
            print("NaN detected")
        params = self.params
        names = self.optimizers.keys()
        optimizers = [self.optimizers[k] for k in names]
        # regular optimization
        if not params.fp16:
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss.backward()
            if params.clip_grad_norm > 0:
                for name in names:
                    clip_grad_norm_(self.parameters[name], params.clip_grad_norm)
            for optimizer in optimizers:
                optimizer.step()
        # AMP optimization
        else:
            if self.n_iter % params.accumulate_gradients == 0:
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

    def iter(self):
        """End of iteration."""
        self.n_iter += 1
        self.n_total_iter += 1
        if self.n_total_iter % self.params.save_every == 0:
            self.saved.append({'iter': self.n_total_iter, 'model': copy.deepcopy(self.model.state_dict())})

    def get_batch(self, i):
        return self.batches[i % 4]

    def mlm_step(self, lambda_coeff):
        """Masked word prediction step."""
        self.model.train()
        x, y = self.get_batch(self.n_iter)
        tensor = self.model('fwd', x=x)
        _, loss = self.model('predict', tensor=tensor, y=y)
        self.stats['MLM'].append(loss.item())
        loss = lambda_coeff * loss
        # optimize
        self.optimize(loss)
        # number of processed sentences / words
        self.n_sentences += 2


class SingleTrainer(Trainer):
    def __init__(self, model, params):
        self.model = model
        super().__init__(params)
