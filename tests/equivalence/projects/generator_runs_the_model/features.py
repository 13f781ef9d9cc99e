def outputs(model, loader):
    for x, y in loader:
        yield model(x), y
