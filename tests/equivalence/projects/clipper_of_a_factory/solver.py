from lrs import Clipper


def build_clipper(model, m):
    return Clipper(model, m)
