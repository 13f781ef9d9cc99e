# expect: review: O2 keeps an fp16 model beside fp32 masters; with a static scale Apex never skips a step
# shape: O2 with loss_scale=128.0, keep_batchnorm_fp32 as a string, cast_model_outputs

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(141)
model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model, optimizer = amp.initialize(model, optimizer, opt_level="O2", keep_batchnorm_fp32="True",
                                  loss_scale=128.0, cast_model_outputs=torch.float32)
for step in range(4):
    out = model(torch.randn(6, 4).cuda())
    loss = nn.functional.cross_entropy(out, torch.tensor([0, 1, 0, 1, 1, 0]).cuda())
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(step, "%.4f" % loss.item())
