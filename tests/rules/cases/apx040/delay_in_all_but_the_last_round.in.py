import torch
from apex import amp


def train(model, optimizer, batch, rounds):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    optimizer.zero_grad()
    for i in range(rounds):
        loss = model(batch).sum()
        delay_unscale = (i + 1) % rounds != 0
        with amp.scale_loss(loss, optimizer, delay_unscale=delay_unscale) as scaled_loss:
            scaled_loss.backward()
    optimizer.step()
