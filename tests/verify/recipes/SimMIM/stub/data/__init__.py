"""Stands in for the loaders: sixteen made-up pictures."""

import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def build_loader(config, logger, is_pretrain):
    made = torch.Generator().manual_seed(0)
    size = config.DATA.IMG_SIZE
    data = TensorDataset(
        torch.randn(16, 3, size, size, generator=made), torch.randint(0, 10, (16,), generator=made)
    )
    loaders = [DataLoader(data, config.DATA.BATCH_SIZE, sampler=DistributedSampler(data)) for _ in range(2)]
    return data, data, *loaders, None
