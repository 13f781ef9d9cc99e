import torch
from apex import amp
from lib.callbacks import CallbackHandler, Events


class Trainer:
    def __init__(self, model, optimizer, callbacks, level):
        if level:
            self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")
        else:
            self.model, self.optimizer = model, optimizer
        self.level = level
        self.handler = CallbackHandler(callbacks, self)

    def step(self, batch):
        self.optimizer.zero_grad()
        self.handler.fire_event(Events.FORWARD)
        loss = self.model(batch)
        if self.level:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.handler.fire_event(Events.BACKWARD)
        self.optimizer.step()
        self.handler.fire_event(Events.BATCH_END)


def main(loader, callbacks, args):
    net = torch.nn.Linear(4, 4).cuda()
    trainer = Trainer(net, torch.optim.SGD(net.parameters(), lr=0.1), callbacks, args.fp16)
    for batch in loader:
        trainer.step(batch)
