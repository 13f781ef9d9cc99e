# expect: review: native AMP skips each optimizer on its own, Apex skipped all
# shape: list of optimizers in one scale_loss

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(33)
encoder = nn.Sequential(nn.Linear(4, 6), nn.Tanh()).cuda()
decoder = nn.Linear(6, 4).cuda()
enc_opt = torch.optim.Adam(encoder.parameters(), lr=1e-2)
dec_opt = torch.optim.SGD(decoder.parameters(), lr=1e-1)
optimizers = [enc_opt, dec_opt]
[encoder, decoder], optimizers = amp.initialize([encoder, decoder], optimizers, opt_level="O1")

for step in range(5):
    x = torch.randn(5, 4).cuda()
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss = nn.functional.mse_loss(decoder(encoder(x)), x)
    with amp.scale_loss(loss, [enc_opt, dec_opt]) as scaled_loss:
        scaled_loss.backward()
    enc_opt.step()
    dec_opt.step()
    print("{} {:.6f}".format(step, loss.item()))
