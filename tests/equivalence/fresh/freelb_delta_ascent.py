# expect: safe

"""FreeLB: K ascent steps on a perturbation of the input embeddings; parameter gradients accumulate over the steps."""
import os
import torch
from torch import nn

if int(os.environ.get("NO_APEX", "0")) == 0:
    from apex import amp


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.word_embeddings = nn.Embedding(30, 8)
        self.dense = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)
        self.classifier = nn.Linear(8, 2)

    def get_input_embeddings(self):
        return self.word_embeddings

    def forward(self, inputs_embeds, mask, labels):
        h = self.norm(inputs_embeds + torch.relu(self.dense(inputs_embeds)))
        logits = self.classifier((h * mask.unsqueeze(2)).sum(1))
        return nn.functional.cross_entropy(logits, labels), logits


def train(cfg):
    torch.manual_seed(cfg["seed"])
    model = Encoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale=cfg["loss_scale"], verbosity=0)
    tr_loss = []
    optimizer.zero_grad()
    for step in range(cfg["steps"]):
        ids = torch.randint(0, 30, (4, 5))
        mask = torch.ones(4, 5)
        mask[0, 3:] = 0
        labels = torch.randint(0, 2, (4,))
        # initialize delta
        embeds_init = model.get_input_embeddings()(ids)
        input_lengths = torch.sum(mask, 1)
        delta = torch.zeros_like(embeds_init).uniform_(-1, 1) * mask.unsqueeze(2)
        dims = input_lengths * embeds_init.size(-1)
        mag = cfg["adv_init_mag"] / torch.sqrt(dims)
        delta = (delta * mag.view(-1, 1, 1)).detach()
        for astep in range(cfg["adv_steps"]):
            delta.requires_grad_()
            loss, logits = model(delta + embeds_init, mask, labels)
            loss = loss / cfg["adv_steps"]
            tr_loss.append(loss.item())
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            if astep == cfg["adv_steps"] - 1:
                break
            # (2) get gradient on delta
            delta_grad = delta.grad.clone().detach()
            denorm = torch.norm(delta_grad.view(delta_grad.size(0), -1), dim=1).view(-1, 1, 1)
            denorm = torch.clamp(denorm, min=1e-8)
            delta = (delta + cfg["adv_lr"] * delta_grad / denorm).detach()
            if cfg["adv_max_norm"] > 0:
                delta_norm = torch.norm(delta.view(delta.size(0), -1).float(), p=2, dim=1).detach()
                exceed_mask = (delta_norm > cfg["adv_max_norm"]).to(embeds_init)
                reweights = (cfg["adv_max_norm"] / delta_norm * exceed_mask + (1 - exceed_mask)).view(-1, 1, 1)
                delta = (delta * reweights).detach()
            embeds_init = model.get_input_embeddings()(ids)
        torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), cfg["max_grad_norm"])
        optimizer.step()
        model.zero_grad()
    return tr_loss, model


def main():
    out = train({"seed": 0, "lr": 0.01, "loss_scale": "dynamic", "steps": 4, "adv_steps": 3, "adv_init_mag": 0.2,
                 "adv_lr": 0.1, "adv_max_norm": 0.25, "max_grad_norm": 1.0})
    return out[0], [p.detach() for p in out[1].parameters()]


if __name__ == "__main__":
    main()
