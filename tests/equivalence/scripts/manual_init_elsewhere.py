# expect: manual: amp.initialize is in another file
# shape: a trainer that gets an initialized optimizer from its caller

import torch
from apex import amp


class DistillationTrainer:
    def __init__(self, model, optimizer, fp16):
        self.model, self.optimizer, self.fp16 = model, optimizer, fp16

    def train_on_batch(self, x, y):
        loss = torch.nn.functional.cross_entropy(self.model(x), y)
        if self.fp16:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(170)
    net = torch.nn.Linear(3, 2)
    trainer = DistillationTrainer(net, torch.optim.SGD(net.parameters(), lr=0.1), False)
    for _ in range(3):
        print("%.6f" % trainer.train_on_batch(torch.randn(2, 3), torch.tensor([0, 1])))
