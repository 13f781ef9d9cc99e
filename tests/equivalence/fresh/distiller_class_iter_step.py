# expect: safe

# coding=utf-8
""" The distiller (DistilBERT research project style): step() accumulates, optimize() steps every k iterations. """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import AdamW


class LM(nn.Module):
    def __init__(self, vocab, dim, layers):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList([nn.Linear(dim, dim) for _ in range(layers)])
        self.ln = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.head.weight = self.emb.weight

    def forward(self, ids):
        h = self.emb(ids)
        for b in self.blocks:
            h = h + torch.tanh(b(h))
        h = self.ln(h)
        return self.head(h), h


class Distiller:
    def __init__(self, params, batches, student, teacher):
        self.params = params
        self.student, self.teacher = student, teacher
        self.batches = batches
        self.fp16 = params["fp16"]
        self.temperature = params["temperature"]
        self.n_iter = 0
        self.n_total_iter = 0
        self.n_gradient_updates = 0
        self.total_loss_epoch = 0
        self.last_loss = self.last_loss_ce = self.last_loss_mlm = 0
        self.ce_loss_fct = nn.KLDivLoss(reduction="batchmean")
        self.lm_loss_fct = nn.CrossEntropyLoss(ignore_index=-100)
        self.optimizer = AdamW(student.parameters(), lr=params["lr"], betas=(0.9, 0.98))
        warmup = 2
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda s: min(1.0, (s + 1) / warmup))
        if self.fp16:
            try:
                from apex import amp
            except ImportError:
                raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")
            self.student, self.optimizer = amp.initialize(self.student, self.optimizer, opt_level=params["fp16_opt_level"])
            self.teacher = self.teacher.half() if params["half_teacher"] else self.teacher

    def train(self):
        self.student.train()
        self.teacher.eval()
        for _ in range(self.params["n_epoch"]):
            for ids, labels in self.batches:
                self.step(ids, labels)
            self.end_epoch()

    def step(self, input_ids, lm_labels):
        s_logits, s_hidden = self.student(input_ids)
        with torch.no_grad():
            t_logits, t_hidden = self.teacher(input_ids)
        assert s_logits.size() == t_logits.size()
        mask = (lm_labels > -1).unsqueeze(-1).expand_as(s_logits)
        s_slct = torch.masked_select(s_logits, mask).view(-1, s_logits.size(-1))
        t_slct = torch.masked_select(t_logits, mask).view(-1, s_logits.size(-1))
        loss_ce = self.ce_loss_fct(F.log_softmax(s_slct / self.temperature, dim=-1),
                                   F.softmax(t_slct / self.temperature, dim=-1)) * (self.temperature) ** 2
        loss = self.params["alpha_ce"] * loss_ce
        loss_mlm = self.lm_loss_fct(s_logits.view(-1, s_logits.size(-1)), lm_labels.view(-1))
        loss += self.params["alpha_mlm"] * loss_mlm
        target = torch.ones(s_hidden.size(0) * s_hidden.size(1))
        loss += 0.3 * F.cosine_embedding_loss(s_hidden.flatten(0, 1), t_hidden.flatten(0, 1), target)
        self.total_loss_epoch += loss.item()
        self.last_loss, self.last_loss_ce, self.last_loss_mlm = loss.item(), loss_ce.item(), loss_mlm.item()
        self.optimize(loss)

    def optimize(self, loss):
        """ Normalization on the loss (gradient accumulation), backward pass on the loss, possible step. """
        if (loss != loss).data.any():
            raise SystemExit("NaN detected")
        if self.params["gradient_accumulation_steps"] > 1:
            loss = loss / self.params["gradient_accumulation_steps"]
        if self.fp16:
            from apex import amp

            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.iter()
        if self.n_iter % self.params["gradient_accumulation_steps"] == 0:
            if self.fp16:
                torch.nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), self.params["max_grad_norm"])
            else:
                torch.nn.utils.clip_grad_norm_(self.student.parameters(), self.params["max_grad_norm"])
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.scheduler.step()

    def iter(self):
        self.n_iter += 1
        self.n_total_iter += 1
        if self.n_total_iter % 2 == 0:
            self.n_gradient_updates += 1

    def end_epoch(self):
        self.mean = self.total_loss_epoch / self.n_iter
        self.n_iter = 0
        self.total_loss_epoch = 0


def main():
    torch.manual_seed(56)
    params = {"fp16": True, "fp16_opt_level": "O1", "temperature": 2.0, "alpha_ce": 5.0, "alpha_mlm": 2.0, "lr": 5e-3,
              "gradient_accumulation_steps": 2, "max_grad_norm": 5.0, "n_epoch": 2, "half_teacher": False}
    teacher, student = LM(19, 8, 3), LM(19, 8, 1)
    batches = []
    for _ in range(3):  # odd number: one left over per epoch
        ids = torch.randint(0, 19, (3, 7))
        labels = torch.where(torch.rand(3, 7) < 0.4, ids, torch.full_like(ids, -100))
        labels[:, 0] = ids[:, 0]
        batches.append((ids, labels))
    d = Distiller(params, batches, student, teacher)
    d.train()
    return d.last_loss, d.last_loss_ce, d.last_loss_mlm, d.mean, d.n_gradient_updates, [p.data for p in d.student.parameters()]


if __name__ == "__main__":
    main()
