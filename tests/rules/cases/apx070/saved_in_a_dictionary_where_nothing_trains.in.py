# expect: manual no way from a scaler to here is known
import torch
from apex import amp

net = amp.initialize(build().cuda(), opt_level="O1")
torch.save({"net": net.state_dict(), "amp": amp.state_dict()}, "all.pt")
for x in loader:
    print(net(x).sum())
