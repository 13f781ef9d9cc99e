# expect: review
# shape: mean and spread of gradients are logged every few micro-batches, the step comes after three
# argv: --fp16

import sys
import torch
import torch.nn as nn


class Writer:
    def add_scalar(self, tag, scalar_value, global_step):
        print(tag, global_step, '%.6f' % float(scalar_value))

    def add_histogram(self, tag, values, global_step):
        print(tag, global_step, '%.6f' % values.abs().max().item())


class Distiller:
    def __init__(self, fp16):
        torch.manual_seed(3)
        self.fp16 = fp16
        self.student = nn.Linear(4, 2).cuda()
        self.optimizer = torch.optim.SGD(self.student.parameters(), lr=0.1)
        if self.fp16:
            from apex import amp
            self.student, self.optimizer = amp.initialize(self.student, self.optimizer, opt_level='O1')
        self.tensorboard = Writer()
        self.n_iter = 0

    def train(self):
        for i in range(9):
            loss = self.student(torch.randn(3, 4).cuda()).float().pow(2).mean()
            if i == 4:
                loss = loss * 1e38
            self.optimize(loss / 3)

    def optimize(self, loss):
        if self.fp16:
            from apex import amp
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.iter()
        if self.n_iter % 3 == 0:
            if self.fp16:
                torch.nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), 1.0)
            else:
                torch.nn.utils.clip_grad_norm_(self.student.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()

    def iter(self):
        self.n_iter += 1
        if self.n_iter % 2 == 0:
            self.log()

    def log(self):
        for name, param in self.student.named_parameters():
            self.tensorboard.add_scalar('mean/' + name, param.data.mean(), self.n_iter)
            if param.grad is None:
                continue
            self.tensorboard.add_scalar(tag='grad_mean/' + name, scalar_value=param.grad.data.mean(), global_step=self.n_iter)
            self.tensorboard.add_scalar(tag='grad_std/' + name, scalar_value=param.grad.data.std(), global_step=self.n_iter)
            self.tensorboard.add_histogram('grads/' + name, param.grad, self.n_iter)


Distiller('--fp16' in sys.argv).train()
