# expect: manual may be asked of something else than Apex
# rule: APX091
import torch
import apex
from apex import amp


class Options:
    amp = False


def tell(x):
    if x.amp:
        print("mixed")


tell(apex)
tell(Options())

model = torch.nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x in loader:
    optimizer.zero_grad()
    loss = model(x).mean()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
