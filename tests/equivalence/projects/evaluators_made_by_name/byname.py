import torch


class MeanCheck:
    def __init__(self, task):
        self.task = task

    def run(self):
        with torch.no_grad():
            return self.task.net(torch.ones(1, 4)).float().mean().item()


class MedianCheck(MeanCheck):
    def run(self):
        with torch.no_grad():
            return self.task.net(torch.ones(3, 4)).float().median().item()
