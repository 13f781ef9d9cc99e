import torch


@torch.no_grad()
def create_embeddings(model, batches):
    model.eval()
    return torch.cat([model(x) for x in batches])


def log_samples(model, prefix):
    model.eval()
    found = model.generate(prefix, n=2)
    return found.sum().item()
