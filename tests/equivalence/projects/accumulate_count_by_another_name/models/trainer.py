import torch
import torch.nn as nn
from apex import amp


class Statistics:
    def __init__(self, loss=0., n=0):
        self.loss, self.n = loss, n

    def update(self, other):
        self.loss += other.loss
        self.n += other.n

    def xent(self):
        return self.loss / self.n


def build_trainer(args, device_id, model, optim):
    if args.fp16:
        model, optim.optimizer = amp.initialize(model, optim.optimizer, opt_level="O1")
    return Trainer(args, model, optim, args.accum_count)


class Trainer(object):
    def __init__(self, args, model, optim, grad_accum_count=1):
        self.args, self.model, self.optim = args, model, optim
        self.grad_accum_count = grad_accum_count
        self.loss = nn.BCEWithLogitsLoss(reduction='none')
        self.reports = []

    def train(self, train_iter_fct, train_steps):
        step = self.optim._step + 1
        true_batchs, accum, normalization = [], 0, 0
        train_iter = train_iter_fct()
        total_stats, report_stats = Statistics(), Statistics()
        while step <= train_steps:
            reduce_counter = 0
            for i, batch in enumerate(train_iter):
                true_batchs.append(batch)
                normalization += batch[0].size(0)
                accum += 1
                if accum == self.grad_accum_count:
                    reduce_counter += 1
                    self._gradient_accumulation(true_batchs, normalization, total_stats, report_stats)
                    if step % self.args.report_every == 0:
                        self.reports.append((report_stats.xent(), self.optim.learning_rate))
                        report_stats = Statistics()
                    true_batchs, accum, normalization = [], 0, 0
                    step += 1
                    if step > train_steps:
                        break
            train_iter = train_iter_fct()
        return total_stats

    def _gradient_accumulation(self, true_batchs, normalization, total_stats, report_stats):
        if self.grad_accum_count > 1:
            self.model.zero_grad()
        for batch in true_batchs:
            if self.grad_accum_count == 1:
                self.model.zero_grad()
            src, labels = batch
            scores = self.model(src)
            loss = self.loss(scores, labels)
            loss = loss.sum()
            (loss / loss.numel())
            with amp.scale_loss(loss / normalization, self.optim.optimizer) as scaled_loss:
                scaled_loss.backward()
            batch_stats = Statistics(float(loss.cpu().data.numpy()), normalization)
            total_stats.update(batch_stats)
            report_stats.update(batch_stats)
            # 4. Update the parameters and statistics.
            if self.grad_accum_count == 1:
                self.optim.step()
        # in case of multi step gradient accumulation, update only after accum batches
        if self.grad_accum_count > 1:
            self.optim.step()

    def validate(self, batches):
        self.model.eval()
        stats = Statistics()
        with torch.no_grad():
            for src, labels in batches:
                l = self.loss(self.model(src), labels).sum()
                stats.update(Statistics(float(l.cpu().data.numpy()), len(labels)))
        return stats.xent()
