"""Made-up streets: large enough for the hard pixels that the loss asks for."""

import torch


class CityScapes(torch.utils.data.Dataset):
    def __init__(self, folder, cropsize=None, mode="train"):
        made = torch.Generator().manual_seed(0)
        self.images = torch.randn(16, 3, 256, 288, generator=made)
        self.labels = torch.randint(0, 19, (16, 1, 256, 288), generator=made)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]
