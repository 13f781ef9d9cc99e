from amp_utils import get_amp


def save(model, use_fp16):
    state = {"model": model.state_dict()}
    amp = get_amp(use_fp16)
    if amp is not None:
        state["amp"] = amp.state_dict()
    return state
