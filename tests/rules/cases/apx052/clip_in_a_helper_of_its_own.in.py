# expect: review the clip moves under that condition
import torch
from apex import amp


def clip(model, most):
    torch.nn.utils.clip_grad_value_(model.parameters(), most)


def train(model, optimizer, loader, accumulate):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step, batch in enumerate(loader):
        loss = model(batch).sum()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        clip(model, 0.5)
        if (step + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
