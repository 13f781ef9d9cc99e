from apex import amp


def snapshot(trainer):
    state = {"model": trainer.model.state_dict(), "optimizer": trainer.optimizer.state_dict()}
    if trainer.fp16:
        state["amp"] = amp.state_dict()
    return state
