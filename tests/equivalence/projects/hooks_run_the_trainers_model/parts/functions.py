import torch


def log_outputs(into):
    @torch.no_grad()
    def call(trainer):
        into.append(trainer.model(torch.zeros(2, 5)).float().sum().item())

    return call
