# expect: safe
# shape: models and optimizers live in dicts, initialize per entry, steps apart

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(145)
models = {"net": nn.Linear(4, 2).cuda()}
optimizers = {"net": torch.optim.SGD(models["net"].parameters(), lr=0.1)}
models["net"], optimizers["net"] = amp.initialize(models["net"], optimizers["net"], opt_level="O1")
for i in range(4):
    loss = nn.functional.mse_loss(models["net"](torch.randn(3, 4).cuda()), torch.zeros(3, 2).cuda())
    optimizers["net"].zero_grad()
    with amp.scale_loss(loss, optimizers["net"]) as scaled_loss:
        scaled_loss.backward()
    optimizers["net"].step()
    print(i, "%.6f" % loss.item())
