from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(model, broadcast_buffers=False)
for step, batch in enumerate(loader):
    if step % 4:
        model.require_backward_grad_sync = False
    else:
        model.require_backward_grad_sync = True
    model(batch).mean().backward()
