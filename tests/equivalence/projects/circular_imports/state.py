import steps

LOG = []


def record(v):
    LOG.append(v)


def names():
    return dir(steps)
