from apex import amp


def load(state, model, opt):
    model.load_state_dict(state["model"])
    opt.load_state_dict(state["opt"])
    amp.load_state_dict(state["amp"])
