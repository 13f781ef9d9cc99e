import logging
import math
import torch


class CustomUpdater(object):
    def __init__(self, model, criterion, grad_clip_threshold, train_iter, optimizer, device, accum_grad=1, use_apex=False):
        self.model = model
        self.criterion = criterion
        self.grad_clip_threshold = grad_clip_threshold
        self.train_iter = train_iter
        self.optimizer = optimizer
        self.device = device
        self.accum_grad = accum_grad
        self.forward_count = 0
        self.use_apex = use_apex
        self.iteration = 0
        self.position = 0
        self.epoch = 0
        self.is_new_epoch = False
        self.observed = []

    def _next(self):
        batch = self.train_iter[self.position]
        self.position += 1
        self.is_new_epoch = self.position == len(self.train_iter)
        if self.is_new_epoch:
            self.position = 0
            self.epoch += 1
        return batch

    def update_core(self):
        x = self._next().to(self.device)
        # Compute the loss at this time step and accumulate it
        loss = self.criterion(self.model(x[:, :-1]), x[:, 1:]) / self.accum_grad
        if self.use_apex:
            from apex import amp
            # NOTE: for a compatibility with noam optimizer
            opt = self.optimizer.optimizer if hasattr(self.optimizer, "optimizer") else self.optimizer
            with amp.scale_loss(loss, opt) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.observed.append(loss.item())
        # update parameters
        self.forward_count += 1
        if self.forward_count != self.accum_grad:
            return
        self.forward_count = 0
        # compute the gradient norm to check if it is normal or not
        grad_norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.grad_clip_threshold)
        logging.info('grad norm={}'.format(grad_norm))
        self.optimizer.step()
        self.optimizer.zero_grad()

    def update(self):
        self.update_core()
        if self.forward_count == 0:
            self.iteration += 1


class CustomEvaluator(object):
    def __init__(self, model, criterion, iterator, device):
        self.model, self.criterion, self.iterator, self.device = model, criterion, iterator, device

    def evaluate(self):
        self.model.eval()
        total = 0.
        with torch.no_grad():
            for x in self.iterator:
                x = x.to(self.device)
                total += self.criterion(self.model(x[:, :-1]), x[:, 1:]).item()
        self.model.train()
        return total / len(self.iterator)
