# expect: safe
# shape: comments everywhere, semicolons, strings that name apex, unusual spacing

"""Toy trainer.

Needs `apex` (https://github.com/NVIDIA/apex): amp.initialize and amp.scale_loss.
"""
import torch   # the framework
import torch.nn as nn
# ---- mixed precision ----
from apex import amp  # noqa: E402  (pip install apex)

torch.manual_seed( 112 ) ; STEPS=4

# network
model = nn.Linear(3, 3)  # tiny
model = model.cuda()     # to the device
# optimizer
optimizer = torch.optim.SGD( model.parameters(), lr = 0.1 )
# O1: patches torch functions
model, optimizer = amp.initialize( model, optimizer, opt_level = "O1" )  # keep this line after .cuda()
# training
for i in range(STEPS):
    # forward
    y = model( torch.ones(2, 3).cuda() * i )  # (2, 3)
    # loss
    loss = ( y - 1.0 ).pow(2).mean()  # mse

    optimizer.zero_grad()  # before the backward
    # backward, scaled
    with amp.scale_loss(loss, optimizer) as scaled_loss:  # scale up
        # inside the block
        scaled_loss.backward()  # gradients
        # end of the block
    # after the block
    optimizer.step()  # update
    print( i , "%.6f" % loss.item() )  # log
# done with amp.scale_loss
