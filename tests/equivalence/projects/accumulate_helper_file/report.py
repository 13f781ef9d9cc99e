def report(loss):
    value = loss.item()
    print("loss %.3e" % value)
    return value
