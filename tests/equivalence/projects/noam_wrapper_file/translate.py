import torch.nn.functional as F
from apex import amp


def translate_epoch(model, optimizer, data, epoch):
    total = 0
    for i, tokens in enumerate(data):
        optimizer.zero_grad()
        logits = model(tokens)
        loss = F.cross_entropy(logits.view(-1, 10), tokens.view(-1))
        if epoch == 1 and i == 0:
            loss = loss * 1e37
        with amp.scale_loss(loss, optimizer.optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        total += loss.item()
    return total
