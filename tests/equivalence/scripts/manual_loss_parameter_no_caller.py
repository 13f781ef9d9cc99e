# expect: manual: the loss is a parameter of a function that nobody in the file calls
# shape: backward helper of a library module

import torch
from apex import amp


def initialize_for_amp(model, optimizer, opt_level="O1"):
    return amp.initialize(model, optimizer, opt_level=opt_level)


def backward_and_step(loss, optimizer):
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()


if __name__ == "__main__":
    print("library module", torch.float16)
