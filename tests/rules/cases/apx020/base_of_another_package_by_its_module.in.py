# expect: manual the loss of this optimizer is not scaled in this file
import library
import torch
from apex import amp


class Mine(library.Trainer):
    def log(self, words):
        print(words)


model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
Mine(model, optimizer).fit(loader)
