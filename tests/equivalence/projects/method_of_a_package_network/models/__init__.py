from .net import Net


def build_model(cfg):
    return Net(cfg)
