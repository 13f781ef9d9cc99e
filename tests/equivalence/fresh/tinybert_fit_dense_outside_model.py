# expect: safe
# casts: real

"""Task distillation in the manner of TinyBERT: hidden states and attentions first; the projection is a separate module in the same optimizer."""
import logging
import sys

import torch
from torch import nn
from torch.nn import MSELoss

logger = logging.getLogger("td")


class Attn(nn.Module):
    def __init__(self, d, layers):
        super().__init__()
        self.e = nn.Embedding(21, d)
        self.layers = nn.ModuleList(nn.Linear(d, d) for _ in range(layers))
        self.cls = nn.Linear(d, 2)

    def forward(self, x, is_student=False, fit=None):
        h = self.e(x)
        hs, atts = [h], []
        for l in self.layers:
            a = h.bmm(h.transpose(1, 2)) / h.size(-1)
            h = torch.tanh(l(torch.softmax(a, -1).bmm(h)))
            hs.append(h)
            atts.append(a)
        logits = self.cls(h[:, 0])
        if is_student:
            hs = [fit(h) for h in hs]
        return logits, atts, hs


def soft_cross_entropy(predicts, targets):
    student_likelihood = torch.nn.functional.log_softmax(predicts, dim=-1)
    targets_prob = torch.nn.functional.softmax(targets, dim=-1)
    return (- targets_prob * student_likelihood).mean()


def loop(args, student, teacher, fit, optimizer, pred_distill):
    loss_mse = MSELoss()
    tr = []
    for step, x in enumerate(args["data"]):
        att_loss, rep_loss = 0., 0.
        s_logits, s_atts, s_reps = student(x, is_student=True, fit=fit)
        with torch.no_grad():
            t_logits, t_atts, t_reps = teacher(x)
        if not pred_distill:
            per = len(t_atts) // len(s_atts)
            for sa, ta in zip(s_atts, [t_atts[i * per + per - 1] for i in range(len(s_atts))]):
                sa = torch.where(sa <= -1e2, torch.zeros_like(sa), sa)
                att_loss += loss_mse(sa, ta)
            for sr, tr_ in zip(s_reps, [t_reps[i * per] for i in range(len(s_atts) + 1)]):
                rep_loss += loss_mse(sr, tr_)
            loss = rep_loss + att_loss
        else:
            loss = soft_cross_entropy(s_logits / args["temperature"], t_logits / args["temperature"])
        if args["fp16"]:
            with args["amp"].scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        if (step + 1) % args["acc"] == 0:
            optimizer.step()
            optimizer.zero_grad()
        tr.append(loss.item())
    return tr


def main():
    torch.manual_seed(42)
    args = {"fp16": True, "acc": 1, "temperature": 1.5, "data": [torch.randint(0, 21, (4, 5)) for _ in range(4)]}
    teacher, student, fit_dense = Attn(12, 4), Attn(6, 2), nn.Linear(6, 12)
    teacher.eval()
    optimizer = torch.optim.Adam([{"params": student.parameters()}, {"params": fit_dense.parameters(), "lr": 0.02}], lr=0.01)
    if args["fp16"]:
        try:
            from apex import amp
            args["amp"] = amp
        except ImportError:
            sys.exit("apex missing")
        student, optimizer = amp.initialize(student, optimizer, opt_level="O1")
    a = loop(args, student, teacher, fit_dense, optimizer, pred_distill=False)
    b = loop(args, student, teacher, fit_dense, optimizer, pred_distill=True)
    return a, b


if __name__ == "__main__":
    main()
