import engine


def plain(loss, optimizer):
    loss.backward()


def apply():
    engine.backward = plain
