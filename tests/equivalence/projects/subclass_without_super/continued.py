import torch
from trainer import Trainer


class Continued(Trainer):
    def __init__(self, other):
        self.model = other.model
        self.optimizer = other.optimizer
