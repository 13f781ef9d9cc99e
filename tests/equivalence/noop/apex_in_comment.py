# TODO: try apex here one day:
#   from apex import amp
#   model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
import torch

model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(torch.ones(1, 2)).sum()
    optimizer.zero_grad()
    # with amp.scale_loss(loss, optimizer) as scaled_loss:
    #     scaled_loss.backward()
    loss.backward()
    optimizer.step()
