import torch
from torch.nn.functional import cross_entropy
# mixed precision
from apex import amp


def train(args, model, optimizer, loader):
    # Everything that is fp16 needs einsum in half,
    # or it will be slow.
    amp.register_half_function(torch, "einsum")

    # How often to tell, also with fp16.
    every = 10
    # Initialize Amp.
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")

    # ---------------- training with amp
    for x, y in loader:
        loss = cross_entropy(model(x), y)
        # Apex wants this form.
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(every)
