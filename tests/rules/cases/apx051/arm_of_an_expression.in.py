import torch
from apex import amp


class Trainer:
    def __init__(self, model, optimizer, fp16, clip):
        self.fp16, self.clip = fp16, clip
        if fp16:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        self.model, self.optimizer = model, optimizer

    def step(self, x, y):
        loss = torch.nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        if self.fp16:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        params = amp.master_params(self.optimizer) if self.fp16 else self.model.parameters()
        torch.nn.utils.clip_grad_norm_(params, self.clip)
        self.optimizer.step()


def main(loader, fp16):
    model = build().cuda()
    trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1), fp16, 1.0)
    for x, y in loader:
        trainer.step(x, y)
