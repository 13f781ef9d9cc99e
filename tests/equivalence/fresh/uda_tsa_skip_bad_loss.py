# expect: review: **{k: v for k, v in CFG["fp16"].items()}: of these options only enable

"""UDA with training signal annealing. Non-finite losses are skipped with `continue` before the backward pass."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

CFG = dict(seed=11, lr=0.02, tsa="linear_schedule", total_steps=7, uda_coeff=1.0, uda_softmax_temp=0.85, uda_confidence_thresh=0.3,
           fp16=dict(enabled=True, opt_level="O1"))


def get_tsa_thresh(schedule, global_step, num_train_steps, start, end):
    training_progress = torch.tensor(float(global_step) / float(num_train_steps))
    if schedule == 'linear_schedule':
        threshold = training_progress
    elif schedule == 'exp_schedule':
        threshold = torch.exp((training_progress - 1) * 5)
    elif schedule == 'log_schedule':
        threshold = 1 - torch.exp((-training_progress) * 5)
    return threshold * (end - start) + start


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(30, 8)
        self.fc = nn.Linear(8, 8)
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        return self.out(F.relu(self.fc(self.emb(x).mean(1))))


def get_loss(model, sup_batch, unsup_batch, global_step):
    ids, label = sup_batch
    ori, aug = unsup_batch
    logits = model(torch.cat((ids, aug), dim=0))
    sup_size = label.shape[0]
    sup_loss = F.cross_entropy(logits[:sup_size], label, reduction='none')
    if CFG["tsa"]:
        tsa_thresh = get_tsa_thresh(CFG["tsa"], global_step, CFG["total_steps"], start=1. / logits.shape[-1], end=1)
        larger_than_threshold = torch.exp(-sup_loss) > tsa_thresh
        loss_mask = torch.ones_like(label, dtype=torch.float32) * (1 - larger_than_threshold.type(torch.float32))
        sup_loss = torch.sum(sup_loss * loss_mask, dim=-1) / torch.max(torch.sum(loss_mask, dim=-1), torch.tensor(1.))
    with torch.no_grad():
        ori_logits = model(ori)
        ori_prob = F.softmax(ori_logits, dim=-1)
        unsup_mask = (torch.max(ori_prob, dim=-1)[0] > CFG["uda_confidence_thresh"]).float()
        ori_prob = F.softmax(ori_logits / CFG["uda_softmax_temp"], dim=-1)
    aug_log_prob = F.log_softmax(logits[sup_size:], dim=-1)
    unsup_loss = torch.sum(F.kl_div(aug_log_prob, ori_prob, reduction='none'), dim=-1)
    unsup_loss = torch.sum(unsup_loss * unsup_mask) / torch.sum(unsup_mask)
    return sup_loss + CFG["uda_coeff"] * unsup_loss, sup_loss, unsup_loss


def main():
    torch.manual_seed(CFG["seed"])
    np.random.seed(CFG["seed"])
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=CFG["lr"])
    if CFG["fp16"]["enabled"]:
        model, optimizer = amp.initialize(model, optimizer, **{k: v for k, v in CFG["fp16"].items()})
    skipped, rows = 0, []
    for step in range(CFG["total_steps"]):
        sup = (torch.randint(0, 30, (4, 5)), torch.randint(0, 2, (4,)))
        ori = torch.randint(0, 30, (6, 5))
        perm = torch.from_numpy(np.random.permutation(5))
        model.train()
        final, s, u = get_loss(model, sup, (ori, ori[:, perm].roll(1, 0)), step)
        if step == 2:
            final = final * float("nan")
        if step == 4:
            final = final * 1e36
        if not torch.isfinite(final):
            skipped += 1
            optimizer.zero_grad()
            continue
        optimizer.zero_grad()
        if CFG["fp16"]["enabled"]:
            with amp.scale_loss(final, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            final.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rows.append((s.item(), u.item()))
    return skipped, rows, list(model.parameters())


if __name__ == "__main__":
    main()
