def save(net, opti, amp=None, epoch=0):
    return {
        "epoch": epoch,
        "net_state": net.state_dict(),
        "opti_state": opti.state_dict(),
        "amp_state": amp.state_dict() if amp else None,
    }


def resume(net, opti, amp=None, state=None):
    net.load_state_dict(state["net_state"])
    opti.load_state_dict(state["opti_state"])
    if state.get("amp_state", None):
        if amp:
            amp.load_state_dict(state["amp_state"])
        else:
            print("You are not using amp.")
    else:
        print("The state of amp is None.")
    return state["epoch"]
