import torch
from concurrent.futures import ThreadPoolExecutor


@torch.autocast("cuda", dtype=torch.float16)
def score(batch):
    return model(batch).argmax(1)


with ThreadPoolExecutor() as pool:
    scores = list(pool.map(score, batches))
