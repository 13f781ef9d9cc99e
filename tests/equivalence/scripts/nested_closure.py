# expect: safe
# shape: update function as a closure inside train(), called by a small engine

import torch
import torch.nn as nn


class Engine:
    def __init__(self, fn):
        self.fn = fn

    def run(self, loader, max_epochs):
        for _ in range(max_epochs):
            for i, batch in enumerate(loader):
                self.fn(self, batch)


def train():
    torch.manual_seed(82)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    from apex import amp  # Apex is only required if we use fp16 training
    model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
    state = {'iteration': 0}

    # Training function and trainer
    def update(engine, batch):
        model.train()
        lm_loss = model(batch.cuda()).pow(2).mean()
        loss = lm_loss * 2 / 4
        state['iteration'] += 1
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if state['iteration'] % 2 == 0:
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        print(state['iteration'], "%.6f" % loss.item())

    trainer = Engine(update)
    trainer.run([torch.randn(3, 4) for _ in range(4)], max_epochs=2)


if __name__ == "__main__":
    train()
