# settings: target_torch=2.0
import torch
from apex import amp


class Pool(torch.nn.Module):
    @amp.half_function
    def forward(self, features):
        return pool(features)


model = torch.nn.Sequential(build(), Pool()).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
