from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(model, broadcast_buffers=False)
