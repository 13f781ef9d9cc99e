from apex import amp


def backward_pass(loss, optimizer):
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()


def accuracy(out, y):
    return float((out.argmax(1) == y).float().mean())
