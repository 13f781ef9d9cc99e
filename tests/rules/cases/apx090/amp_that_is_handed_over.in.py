# expect: manual no import that is followed leads there
class Trainer:
    def __init__(self, model, optimizer, amp=None):
        self.model, self.optimizer, self.amp = model, optimizer, amp

    def step(self, batch):
        loss = self.model(batch).mean()
        self.optimizer.zero_grad()
        if self.amp:
            with self.amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.optimizer.step()
