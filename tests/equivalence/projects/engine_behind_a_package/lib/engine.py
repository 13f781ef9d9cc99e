from apex import amp

__all__ = ["prepare", "train_one", "evaluate"]


def prepare(model, optimizer, fp16):
    if not fp16:
        return model, optimizer
    return amp.initialize(model, optimizer, opt_level="O1", verbosity=0)


def train_one(model, optimizer, loss_of, batch, fp16):
    loss = loss_of(model, *batch)
    optimizer.zero_grad()
    if fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
    return loss.item()


def evaluate(model, data):
    model.eval()
    counts = [model(x).argmax(1).sum().item() for x in data]
    model.train()
    return counts
