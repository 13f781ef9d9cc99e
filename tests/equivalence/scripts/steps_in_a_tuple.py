# expect: review: several optimizers share this loss
# shape: two steps in one line, as a tuple, and all of a list under a name that nobody reads

import torch
import torch.nn as nn
from apex import amp


def main():
    torch.manual_seed(0)
    encoder, decoder = nn.Linear(4, 6).cuda(), nn.Linear(6, 4).cuda()
    opt_e = torch.optim.Adam(encoder.parameters(), lr=1e-2)
    opt_d = torch.optim.Adam(decoder.parameters(), lr=1e-2)
    [encoder, decoder], [opt_e, opt_d] = amp.initialize([encoder, decoder], [opt_e, opt_d], opt_level="O1")
    opts = [opt_e, opt_d]
    for step in range(6):
        x = torch.randn(6, 4).cuda()
        loss = (decoder(torch.tanh(encoder(x))) - x).abs().mean()
        opt_e.zero_grad(), opt_d.zero_grad()
        with amp.scale_loss(loss, opts) as scaled_loss:
            scaled_loss.backward()
        if step % 2:
            opt_e.step(), opt_d.step()
        else:
            _ = [opt.step() for opt in opts]
    print(encoder.weight, decoder.weight)


main()
