import torch


class CIFAR10(torch.utils.data.Dataset):
    def __init__(self, root, train=True, download=False, transform=None):
        made = torch.Generator().manual_seed(int(train))
        self.images = torch.rand(16, 3, 32, 32, generator=made)
        self.labels = torch.randint(0, 10, (16,), generator=made).tolist()

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]
