from base import HookBase


class OptimizationHook(HookBase):
    def __init__(self, accumulate_grad_steps=1, mixed_precision=False):
        self.accumulate_grad_steps = accumulate_grad_steps
        self.mixed_precision = mixed_precision

    def before_step(self):
        self.trainer.optimizer.zero_grad()

    def after_step(self):
        losses = self.trainer.step_outputs["loss_for_backward"]
        losses /= self.accumulate_grad_steps
        if self.mixed_precision:
            from apex import amp

            with amp.scale_loss(losses, self.trainer.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            losses.backward()
        if self.trainer.inner_iter == self.accumulate_grad_steps:
            self.trainer.optimizer.step()
            self.trainer.optimizer.zero_grad()
