from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(model, broadcast_buffers=False, find_unused_parameters=True)
