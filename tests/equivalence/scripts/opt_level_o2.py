# expect: review: O2 keeps an fp16 model beside fp32 masters, autocast keeps fp32 weights
# shape: literal O2 with keep_batchnorm_fp32 and dynamic scale

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(9)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 2)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O2",
                                  keep_batchnorm_fp32=True, loss_scale="dynamic")
criterion = nn.CrossEntropyLoss()
for step in range(5):
    x = torch.randn(4, 1, 4, 4).cuda()
    y = torch.tensor([0, 1, 0, 1]).cuda()
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print("loss at step {}: {:.4f}".format(step, loss.item()))
