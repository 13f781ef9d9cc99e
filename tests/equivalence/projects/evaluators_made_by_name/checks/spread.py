import torch


class Spread:
    def __init__(self, task):
        self.task = task

    def run(self):
        with torch.no_grad():
            y = self.task.net(torch.ones(1, 4)).float()
            return (y.max() - y.min()).item()
