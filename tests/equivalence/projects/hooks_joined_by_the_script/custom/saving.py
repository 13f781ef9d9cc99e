import apex
from loops import register


@register
class Saver:
    def save(self, model, optimizer):
        checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        checkpoint["amp"] = apex.amp.state_dict()
        return checkpoint

    def load(self, model, checkpoint):
        model.load_state_dict(checkpoint["model"])
        if "amp" in checkpoint:
            apex.amp.load_state_dict(checkpoint["amp"])
            print("loaded the state of amp")
