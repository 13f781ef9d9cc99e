import torch
import torch.nn.functional as F


def training_step(trainer, batch):
    x, y = batch
    trainer.model.train()
    loss = F.cross_entropy(trainer.model(x), y)
    if trainer.args.accum > 1:
        loss = loss / trainer.args.accum
    if trainer.amp is not None:
        with trainer.amp.scale_loss(loss, trainer.optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    return loss.item()


def update(trainer):
    if trainer.amp is not None:
        torch.nn.utils.clip_grad_norm_(trainer.amp.master_params(trainer.optimizer), 1.0)
    else:
        torch.nn.utils.clip_grad_norm_(trainer.model.parameters(), 1.0)
    trainer.optimizer.step()
    trainer.model.zero_grad()
