# expect: manual the loss of this optimizer is not scaled in this file
import torch
from apex import amp
from library import Trainer

model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
trainer = Trainer()
trainer.optimizer = optimizer
trainer.model = model
trainer.fit(loader)
