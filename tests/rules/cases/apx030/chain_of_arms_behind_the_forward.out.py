import torch
import torch.nn.functional as F


class Model:
    def __init__(self, net, opt, fp16):
        self.net = net
        self.optimizer = opt
        self.fp16 = fp16
        self.scaler = torch.amp.GradScaler("cuda", enabled=bool(fp16))

    def update(self, x, y):
        with torch.autocast("cuda", dtype=torch.float16, enabled=self.scaler.is_enabled()):
            loss = F.mse_loss(self.net(x), y)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()

    def predict(self, x, kind, task_obj, size):
        self.net.eval()
        with torch.autocast("cuda", dtype=torch.float16, enabled=self.scaler.is_enabled()):
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
