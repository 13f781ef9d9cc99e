# expect: manual the loss of this optimizer is not scaled in this file
import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
train(model, optimizer, loader)
