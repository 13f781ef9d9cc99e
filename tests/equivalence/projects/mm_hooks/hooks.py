import torch

try:
    from apex import amp
except ImportError:
    print("apex is not installed")


class Hook:
    def after_train_iter(self, runner):
        pass

    def after_epoch(self, runner):
        pass


class ApexOptimizerHook(Hook):
    def __init__(self, grad_clip=None):
        self.grad_clip = grad_clip

    def after_train_iter(self, runner):
        runner.optimizer.zero_grad()
        if runner.fp16:
            with amp.scale_loss(runner.outputs["loss"], runner.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            runner.outputs["loss"].backward()
        if self.grad_clip:
            torch.nn.utils.clip_grad_norm_(runner.model.parameters(), self.grad_clip)
        runner.optimizer.step()


class CheckpointHook(Hook):
    def after_epoch(self, runner):
        state = {"model": runner.model.state_dict()}
        if runner.fp16:
            state["amp"] = amp.state_dict()
        runner.saved = state
