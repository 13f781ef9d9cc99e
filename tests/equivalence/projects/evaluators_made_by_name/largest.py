import torch


class Largest:
    def __init__(self, task):
        self.task = task

    def run(self):
        with torch.no_grad():
            return self.task.net(torch.ones(1, 4)).float().max().item()
