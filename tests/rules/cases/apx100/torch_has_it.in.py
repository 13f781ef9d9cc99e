from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(model, device_ids=[0], broadcast_buffers=False)
