import torch

optimizer = torch.optim.SGD(
    model.parameters(),  # all of them
    lr=0.1,  # for a batch of 256
    momentum=0.9,
    fused=True,
    # weight_decay=1e-4,
)
