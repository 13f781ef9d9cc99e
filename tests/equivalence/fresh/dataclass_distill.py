# expect: review: **kw: of these options only enabled and opt_level are still read; a st
# casts: real

from __future__ import annotations

from dataclasses import dataclass, field, asdict
from typing import Dict, List, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F

try:
    from apex import amp

    _HAS_APEX = True
except ImportError:
    amp = None
    _HAS_APEX = False


@dataclass
class PrecisionConfig:
    fp16: bool = True
    opt_level: str = "O1"
    loss_scale: Optional[str] = None

    def __post_init__(self):
        if self.fp16 and not _HAS_APEX:
            raise RuntimeError("fp16=True requires apex")


@dataclass
class DistillConfig:
    lr: float = 3e-2
    temperature: float = 2.0
    alpha_ce: float = 0.5
    alpha_mlm: float = 0.3
    alpha_cos: float = 0.2
    max_grad_norm: float = 5.0
    gradient_accumulation_steps: int = 2
    betas: Tuple[float, float] = (0.9, 0.98)
    precision: PrecisionConfig = field(default_factory=PrecisionConfig)


class MiniBert(nn.Module):
    def __init__(self, hidden: int, layers: int, vocab: int = 20):
        super().__init__()
        self.embed = nn.Embedding(vocab, hidden)
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(hidden, hidden), nn.GELU(), nn.LayerNorm(hidden)) for _ in range(layers))
        self.vocab = nn.Linear(hidden, vocab)

    def forward(self, ids: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        h = self.embed(ids)
        for b in self.blocks:
            h = h + b(h)
        return self.vocab(h), h


class Distiller:
    def __init__(self, cfg: DistillConfig, student: nn.Module, teacher: nn.Module, device: torch.device):
        self.cfg = cfg
        self.student, self.teacher = student.to(device), teacher.to(device)
        self.teacher.eval()
        for p in self.teacher.parameters():
            p.requires_grad = False
        self.optimizer = torch.optim.Adam(self.student.parameters(), lr=cfg.lr, betas=cfg.betas)
        if cfg.precision.fp16:
            kw = {k: v for k, v in asdict(cfg.precision).items() if k != "fp16" and v is not None}
            self.student, self.optimizer = amp.initialize(self.student, self.optimizer, **kw)
        self.n_iter = 0
        self.n_total_iter = 0
        self.meters: Dict[str, List[float]] = {"loss": [], "ce": [], "mlm": [], "cos": []}

    def step(self, ids: torch.Tensor, labels: torch.Tensor) -> None:
        s_logits, s_h = self.student(ids)
        with torch.no_grad():
            t_logits, t_h = self.teacher(ids)
        T = self.cfg.temperature
        ce = F.kl_div(F.log_softmax(s_logits / T, dim=-1), F.softmax(t_logits / T, dim=-1), reduction="batchmean") * T ** 2
        mlm = F.cross_entropy(s_logits.view(-1, s_logits.size(-1)), labels.view(-1), ignore_index=-100)
        target = s_h.new_ones(s_h.size(0) * s_h.size(1))
        cos = F.cosine_embedding_loss(s_h.view(-1, s_h.size(-1)), t_h.view(-1, t_h.size(-1)), target)
        loss = self.cfg.alpha_ce * ce + self.cfg.alpha_mlm * mlm + self.cfg.alpha_cos * cos
        for k, v in (("loss", loss), ("ce", ce), ("mlm", mlm), ("cos", cos)):
            self.meters[k].append(float(v.item()))
        self.optimize(loss)

    def optimize(self, loss: torch.Tensor) -> None:
        if (loss != loss).data.any():
            raise FloatingPointError("NaN detected")
        if self.cfg.gradient_accumulation_steps > 1:
            loss = loss / self.cfg.gradient_accumulation_steps
        if self.cfg.precision.fp16:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.n_iter += 1
        self.n_total_iter += 1
        if self.n_iter % self.cfg.gradient_accumulation_steps == 0:
            params = amp.master_params(self.optimizer) if self.cfg.precision.fp16 else self.student.parameters()
            torch.nn.utils.clip_grad_norm_(params, self.cfg.max_grad_norm)
            self.optimizer.step()
            self.optimizer.zero_grad()


def main():
    torch.manual_seed(31)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    d = Distiller(DistillConfig(), MiniBert(8, 1), MiniBert(8, 3), device)
    for _ in range(6):
        ids = torch.randint(0, 20, (3, 5), device=device)
        labels = torch.where(torch.rand(3, 5, device=device) < 0.6, ids, torch.full_like(ids, -100))
        d.step(ids, labels)
    return [d.meters[k] for k in sorted(d.meters)]


if __name__ == "__main__":
    main()
