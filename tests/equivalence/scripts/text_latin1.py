# expect: safe
# -*- coding: latin-1 -*-
# shape: coding cookie latin-1 with comments and a string outside of ASCII

# Entraînement à précision mixte, modèle très petit (c) Müller
import torch
import torch.nn as nn
from apex import amp  # précision mixte

torch.manual_seed(132)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i in range(4):
    loss = model(torch.randn(3, 4).cuda()).abs().mean()  # coût
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:  # mise à l'échelle
        scaled_loss.backward()
    optimizer.step()
    print("étape".encode("latin-1"), i, "%.6f" % loss.item())
