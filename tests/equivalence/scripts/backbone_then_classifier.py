# expect: safe
# shape: a frozen backbone and the classifier that is trained on it, initialized one after the other (linear evaluation)

import torch
import torch.nn as nn
from apex import amp

level = "O1"
torch.manual_seed(172)
backbone = nn.Sequential(nn.Linear(4, 6), nn.Tanh()).cuda()
classifier = nn.Linear(6, 3).cuda()
for p in backbone.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(classifier.parameters(), lr=0.1)
if level != "O0":
    backbone = amp.initialize(backbone, opt_level=level)
    classifier, optimizer = amp.initialize(classifier, optimizer, opt_level=level)
backbone.eval()
for step in range(6):
    x, y = torch.randn(5, 4).cuda(), torch.randint(0, 3, (5,)).cuda()
    with torch.no_grad():
        features = backbone(x)
    output = classifier(features)
    loss = nn.functional.cross_entropy(output, y)
    optimizer.zero_grad()
    if level != "O0":
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
    print(step, "%.6f" % loss.item())
