from apex import amp


def dump(model, opt):
    return {"model": model.state_dict(), "opt": opt.state_dict(), "amp": amp.state_dict()}
