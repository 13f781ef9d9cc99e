import torch
import torch.nn.functional as F
from apex import amp


class Model:
    def __init__(self, net, opt, fp16):
        self.net = net
        self.optimizer = opt
        self.fp16 = fp16
        if fp16:
            self.net, self.optimizer = amp.initialize(self.net, self.optimizer, opt_level="O1")

    def update(self, x, y):
        loss = F.mse_loss(self.net(x), y)
        if self.fp16:
            with amp.scale_loss(loss, self.optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def predict(self, x, kind, task_obj, size):
        self.net.eval()
        score = self.net(x)
        if task_obj is not None:
            score, predict = task_obj.test_predict(score)
        elif kind == "ranking":
            score = score.contiguous().view(-1, size)
            assert kind == "ranking"
            score = F.softmax(score, dim=1)
            score = score.data.cpu()
            score = score.numpy()
            predict = score.argmax(1)
            return score, predict
        elif kind == "span":
            start, end = score
            if size > 1:
                import squad

                start, end = squad.extract_answer(x, start, end)
            return start, end
        else:
            raise ValueError(kind)
        return score, predict
