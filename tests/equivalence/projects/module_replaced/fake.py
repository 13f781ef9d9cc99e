def backward(loss, optimizer):
    (loss * 0.5).backward()
