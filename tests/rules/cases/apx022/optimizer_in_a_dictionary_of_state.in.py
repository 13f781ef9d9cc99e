# expect: manual
import torch
from apex import amp
from engine import run


def step(state, loss):
    with amp.scale_loss(loss, state["optimizer"]) as scaled_loss:
        scaled_loss.backward()
    state["optimizer"].step()


run(step)
