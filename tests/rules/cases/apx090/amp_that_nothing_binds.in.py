# expect: manual amp has no value in this file
"""Trains, with apex where fp16 is asked for."""
import torch


def train(model, optimizer, loader, fp16):
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        if fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
