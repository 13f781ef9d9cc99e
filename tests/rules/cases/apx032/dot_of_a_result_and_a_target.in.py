import torch
from torch import nn
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x)


model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")

for x in loader:
    target = torch.ones(4, 3)
    output = model(x)
    loss = nn.functional.mse_loss(output, target)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    flat = output.detach().flatten()
    print(torch.dot(flat, target.flatten()), torch.dot(flat, flat), torch.dot(target[0], target[1]))
