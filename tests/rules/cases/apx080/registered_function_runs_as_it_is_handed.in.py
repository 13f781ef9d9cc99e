# expect: review its calls here get .float(), and `nn.Sigmoid` (line 11) and other files run it in float16 under
import torch
from torch import nn
from apex import amp

amp.register_float_function(torch, "sigmoid")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid())
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.gate(x) * torch.sigmoid(self.fc(x) + 1)


model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(torch.sigmoid(input=model(x)), x.sigmoid())
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
