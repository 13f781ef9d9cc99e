# expect: manual
import torch
from apex import amp
import config


def step(loss):
    with amp.scale_loss(loss, config.optimizer) as scaled_loss:
        scaled_loss.backward()
    config.optimizer.step()
