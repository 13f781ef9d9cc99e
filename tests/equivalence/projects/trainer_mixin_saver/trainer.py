import torch.nn.functional as F
from apex import amp

from base_trainer import BaseTrainer
from mixins import ClipMixin


class Trainer(ClipMixin, BaseTrainer):
    def __init__(self, model, optimizer, config, data_loader):
        super().__init__(model, optimizer, config)
        self.data_loader = data_loader

    def _train_epoch(self, epoch):
        self.model.train()
        total = 0
        for batch_idx, (data, target) in enumerate(self.data_loader):
            self.optimizer.zero_grad()
            output = self.model(data)
            loss = F.cross_entropy(output, target)
            if batch_idx == 1 and epoch == 1:
                loss = loss * 1e37
            if self.fp16:
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.clip()
            self.optimizer.step()
            total += loss.item()
        return total / len(self.data_loader)
