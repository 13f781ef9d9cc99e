class AverageMeter:
    def __init__(self):
        self.val = self.sum = self.count = self.avg = 0

    def update(self, value, count=1):
        self.val, self.sum, self.count = value, self.sum + value * count, self.count + count
        self.avg = self.sum / self.count


def accuracy(output, target, topk=(1,)):
    right = output.topk(max(topk), 1).indices == target[:, None]
    return [right[:, :k].float().sum() * 100.0 / len(target) for k in topk]
