import torch

try:
    from apex import amp
except ImportError:
    pass
    # raise ImportError("Please install it")

# What is printed after each round
FORMAT = "{}: {}"
model, optimizer = amp.initialize(build(), torch.optim.SGD(params, lr=0.1), opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
