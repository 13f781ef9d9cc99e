# expect: manual is stored in args, which elsewhere() gets to see
import torch
from apex import amp

from other import elsewhere

args = parse_args()
args.amp = amp
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
elsewhere(args)
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with args.amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
