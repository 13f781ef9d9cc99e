import torch
from torch.utils.data import Dataset


class EncodedSet(Dataset):
    def __init__(self, raw, labels, encoder):
        self.raw, self.labels, self.first = raw, labels, encoder.eval()

    def __len__(self):
        return len(self.raw)

    @torch.no_grad()
    def __getitem__(self, index):
        return self.first(self.raw[index]), self.labels[index]
