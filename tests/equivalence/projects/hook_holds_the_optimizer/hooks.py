from apex import amp


class AmpHook:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.trainer = None

    def after_step(self):
        loss = self.trainer.loss
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()
        self.trainer.losses.append(loss.item())
