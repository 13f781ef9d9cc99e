# expect: safe

import torch, torch.nn as nn, math
import importlib.util
APEX_AVAILABLE = importlib.util.find_spec("apex") is not None
if APEX_AVAILABLE:
    from apex import amp
def is_amp(cfg):
    return APEX_AVAILABLE and cfg.get("precision", 32) == 16
def check_loss(loss, loss_value):
    loss_valid, error = True, ''
    if loss_value == float("inf") or loss_value == float("-inf"):
        loss_valid, error = False, "WARNING: received an inf loss"
    elif torch.isnan(loss).sum() > 0:
        loss_valid, error = False, 'WARNING: received a nan loss, setting loss value to 0'
    elif loss_value < 0:
        loss_valid, error = False, "WARNING: received a negative loss"
    return loss_valid, error
def main():
    torch.manual_seed(0)
    cfg = {"precision": 16, "max_norm": 2.0, "learning_anneal": 1.1}
    model = nn.Sequential(nn.Linear(6, 12), nn.Hardtanh(0, 20), nn.Linear(12, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-5)
    if is_amp(cfg):
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale="dynamic")
    crit = nn.CrossEntropyLoss()
    avg = 0
    out = []
    data = [(torch.randn(4, 6), torch.randint(0, 5, (4,))) for _ in range(6)]
    data[3][0][1, 1] = float("nan")
    for epoch in range(2):
        model.train()
        for i, (x, y) in enumerate(data):
            o = model(x)
            float_out = o.float()
            loss = crit(float_out, y)
            loss = loss / x.size(0)
            loss_value = loss.item()
            valid, err = check_loss(loss, loss_value)
            if valid:
                optimizer.zero_grad()
                if is_amp(cfg):
                    with amp.scale_loss(loss, optimizer) as scaled_loss:
                        scaled_loss.backward()
                    torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), cfg["max_norm"])
                else:
                    loss.backward()
                    torch.nn.utils.clip_grad_norm_(model.parameters(), cfg["max_norm"])
                optimizer.step()
            else:
                print(err)
                print('Skipping grad update')
                loss_value = 0
            avg += loss_value
        with torch.no_grad():
            model.eval()
            for x, y in data[:2]:
                out.append(crit(model(x), y).item())
        for g in optimizer.param_groups:
            g['lr'] = g['lr'] / cfg["learning_anneal"]
    return [avg] + out + list(model.parameters())

if __name__ == "__main__":
    print(main())
