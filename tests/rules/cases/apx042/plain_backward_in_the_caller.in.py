# expect: review `penalty.backward()` was not scaled and now is, as a step takes all its gradients from one scale
# expect: info where several backwards go into this step, the loss scale moves at another pace
import torch
from apex import amp


class Trainer:
    def __init__(self, args, model):
        self.args, self.model = args, model

    def train(self, loader):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.model, optimizer = amp.initialize(self.model, optimizer, opt_level="O1")
        for step, batch in enumerate(loader):
            self._training_step(batch, optimizer)
            if (step + 1) % self.args.steps == 0:
                if self.args.regularize:
                    penalty = sum(w.pow(2).sum() for w in self.model.parameters())
                    penalty.backward()
                torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
                optimizer.step()
                self.model.zero_grad()

    def _training_step(self, batch, optimizer):
        loss = self.model(**batch)[0]
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
