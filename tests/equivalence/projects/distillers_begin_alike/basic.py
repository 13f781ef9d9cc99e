import torch
import torch.nn as nn

from common import *


class Basic:
    def __init__(self, config, student, teacher):
        self.config = config
        self.student = student
        self.teacher = teacher

    def begin(self, optimizer):
        if self.config.fp16:
            if not has_apex:
                raise ImportError("Please install apex")
            if isinstance(self.teacher, (list, tuple)):
                models = [self.student] + list(self.teacher)
                models, optimizer = amp.initialize(models, optimizer, opt_level="O1")
                self.student = models[0]
                self.teacher = models[1:]
            elif isinstance(self.teacher, dict):
                names, teachers = zip(*self.teacher.items())
                models = [self.student] + list(teachers)
                models, optimizer = amp.initialize(models, optimizer, opt_level="O1")
                self.student = models[0]
                self.teacher = dict(zip(names, models[1:]))
            else:
                (self.student, self.teacher), optimizer = amp.initialize(
                    [self.student, self.teacher], optimizer, opt_level="O1"
                )
        return optimizer, None

    def loss(self, batch, teacher):
        x, y = batch
        with torch.no_grad():
            wanted = teacher(x)
        got = self.student(x)
        return nn.functional.mse_loss(got, y) + nn.functional.mse_loss(got, wanted)

    def train(self, optimizer, data, num_steps=None, num_epochs=1):
        optimizer, scheduler = self.begin(optimizer)
        if num_steps is not None:
            out = []
            for step, batch in enumerate(data):
                loss = self.loss(batch, self.teacher)
                if self.config.fp16:
                    with amp.scale_loss(loss, optimizer) as scaled_loss:
                        scaled_loss.backward()
                else:
                    loss.backward()
                out.append(loss.item())
                optimizer.step()
                optimizer.zero_grad()
                if step + 1 >= num_steps:
                    return out
        out = []
        for _ in range(num_epochs):
            optimizer.zero_grad()
            for step, batch in enumerate(data):
                loss = self.loss(batch, self.teacher)
                loss /= self.config.accumulate
                if self.config.fp16:
                    with amp.scale_loss(loss, optimizer) as scaled_loss:
                        scaled_loss.backward()
                else:
                    loss.backward()
                out.append(loss.item())
                if (step + 1) % self.config.accumulate == 0:
                    if self.config.fp16:
                        nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
                    else:
                        nn.utils.clip_grad_norm_(self.student.parameters(), 1.0)
                    optimizer.step()
                    optimizer.zero_grad()
        return out
