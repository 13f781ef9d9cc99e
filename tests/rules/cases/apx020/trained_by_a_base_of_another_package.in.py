# expect: manual the loss of this optimizer is not scaled in this file
import torch
from apex import amp
from helperbot import BaseBot


class Bot(BaseBot):
    def __post_init__(self):
        super().__post_init__()
        self.metrics = []


model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
bot = Bot(model=model, optimizer=optimizer)
bot.train(100)
bot.count_parameters()
