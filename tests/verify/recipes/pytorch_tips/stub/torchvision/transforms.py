def Compose(steps):
    return lambda image: image


def _nothing(*args, **kwargs):
    return None


RandomCrop = RandomHorizontalFlip = ToTensor = Normalize = _nothing
