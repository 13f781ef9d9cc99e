from basic import *


class ByTask(Basic):
    def train(self, optimizer, data, rounds=3):
        optimizer, scheduler = self.begin(optimizer)
        out = []
        optimizer.zero_grad()
        for at in range(rounds):
            for _ in range(self.config.accumulate):
                name = sorted(data)[at % len(data)]
                loss = self.loss(data[name][at], self.teacher[name])
                if self.config.fp16:
                    with amp.scale_loss(loss, optimizer) as scaled_loss:
                        scaled_loss.backward()
                else:
                    loss.backward()
                out.append(loss.item())
            optimizer.step()
            optimizer.zero_grad()
        return out
