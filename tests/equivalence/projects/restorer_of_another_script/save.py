import os
import torch
from apex import amp


class TrainingRestorer(object):
    def __init__(self, opts, model, optimizer):
        self.save_path = opts.path
        self.model = model
        self.optimizer = optimizer
        self.amp = opts.fp16
        if os.path.exists(self.save_path):
            self.restore()
        else:
            self.global_step = 0

    def save(self):
        checkpoint = {'model': self.model.state_dict()}
        if self.amp:
            checkpoint['amp'] = amp.state_dict()
        torch.save(checkpoint, self.save_path)

    def restore(self):
        checkpoint = torch.load(self.save_path)
        self.global_step = 1
        if self.amp:
            amp.load_state_dict(checkpoint['amp'])


def log(step, loss):
    print(step, round(loss, 4))
