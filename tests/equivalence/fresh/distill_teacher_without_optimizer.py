# expect: review: the loss scale is read here after an overflow: Apex had halved it alre
# casts: real

"""Knowledge distillation: the teacher goes through amp.initialize alone (no optimizer), the student with its own.
The scheduler only moves when the scaler did not shrink (silences the lr_scheduler warning)."""
import argparse
import torch
from torch import nn
import torch.nn.functional as F


def add_args(parser):
    parser.add_argument("--distiller", default="kd", choices=["none", "kd"])
    parser.add_argument("--kd_T", type=float, default=4.0)
    parser.add_argument("-a", "--alpha", type=float, default=0.9)
    parser.add_argument("--apex", dest="apex", action="store_true", default=True)
    parser.add_argument("--no-apex", dest="apex", action="store_false")
    parser.add_argument("--warmup_steps", type=int, default=2)
    return parser


class ResNetS(nn.Module):
    def __init__(self, w, num_classes=4):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, w, 3, padding=1), nn.BatchNorm2d(w)
        self.conv2, self.bn2 = nn.Conv2d(w, w, 3, padding=1), nn.BatchNorm2d(w)
        self.fc = nn.Linear(w, num_classes)

    def forward(self, x, is_feat=False):
        f0 = F.relu(self.bn1(self.conv1(x)))
        f1 = F.relu(f0 + self.bn2(self.conv2(f0)))
        out = self.fc(F.adaptive_avg_pool2d(f1, 1).flatten(1))
        return ([f0, f1], out) if is_feat else out


class DistillKL(nn.Module):
    def __init__(self, T):
        super().__init__()
        self.T = T

    def forward(self, y_s, y_t):
        p_s = F.log_softmax(y_s / self.T, dim=1)
        p_t = F.softmax(y_t / self.T, dim=1)
        return F.kl_div(p_s, p_t, reduction="sum") * (self.T ** 2) / y_s.shape[0]


def setup(args, device):
    teacher, student = ResNetS(12).to(device), ResNetS(6).to(device)
    for p in teacher.parameters():
        p.requires_grad_(False)
    teacher.eval()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    if args.apex:
        from apex import amp
        teacher = amp.initialize(teacher, opt_level="O1", verbosity=0)
        student, optimizer = amp.initialize(student, optimizer, opt_level="O1", verbosity=0)
    return teacher, student, optimizer


def main():
    args = add_args(argparse.ArgumentParser("kd")).parse_args([])
    torch.manual_seed(29)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if args.apex:
        from apex import amp
    teacher, student, optimizer = setup(args, device)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / (args.warmup_steps + 1)))
    criterion_cls, criterion_div = nn.CrossEntropyLoss(), DistillKL(args.kd_T)
    loader = [(torch.randn(4, 3, 6, 6), torch.randint(0, 4, (4,))) for _ in range(3)]
    log = []
    for step in range(6):
        student.train()
        x, y = (t.to(device) for t in loader[step % 3])
        feat_s, logit_s = student(x, is_feat=True)
        with torch.no_grad():
            feat_t, logit_t = teacher(x, is_feat=True)
        loss = (1 - args.alpha) * criterion_cls(logit_s, y) + args.alpha * criterion_div(logit_s, logit_t)
        loss = loss + 1e-2 * F.mse_loss(feat_s[1].mean(1), feat_t[1].mean(1))
        log.append(loss.item())
        if step == 2:
            loss = loss * 1e38
        optimizer.zero_grad()
        skipped = False
        if args.apex:
            before = amp.state_dict()["loss_scaler0"]["loss_scale"]
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            skipped = amp.state_dict()["loss_scaler0"]["loss_scale"] < before
        else:
            loss.backward()
        optimizer.step()
        if not skipped:
            scheduler.step()
        log.append(optimizer.param_groups[0]["lr"])
    student.eval()
    with torch.no_grad():
        agree = (student(x).argmax(1) == teacher(x).argmax(1)).float().mean().item()
    return log, agree, list(student.parameters())


if __name__ == "__main__":
    main()
