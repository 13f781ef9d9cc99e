def accuracy(output, target):
    return (output.argmax(1) == target).float().mean().item()
