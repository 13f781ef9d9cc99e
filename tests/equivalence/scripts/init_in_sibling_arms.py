# expect: safe
# shape: each arm makes its optimizer and initializes; one arm is never in mixed precision

import torch
import torch.nn as nn
from apex import amp


class Options:
    def __init__(self, name, fp16):
        self.name, self.fp16 = name, fp16


def fit(options, batches):
    torch.manual_seed(403)
    model = nn.Linear(3, 2).cuda()
    if options.name == "sgd":
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if options.fp16:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    else:
        options.fp16 = False
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(batches):
        loss = nn.functional.mse_loss(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        if options.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        print(options.name, i, "%.6f" % loss.item())


torch.manual_seed(404)
batches = [(torch.randn(4, 3), torch.randn(4, 2)) for _ in range(4)]
fit(Options("adam", True), batches)
fit(Options("sgd", True), batches)
