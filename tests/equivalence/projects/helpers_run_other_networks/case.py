# expect: safe

import torch
import torch.nn.functional as F

import nets
from apex import amp
from nets import Frozen, LabelEncoder, build_teachers
from tools import bank_of as make_bank
from tools import ensemble


def scores(zoo, data):
    found = {}
    for name, net in zoo.items():
        found[name] = torch.cat([net(x).detach().float() for x, _ in data]).mean()
    return found


def main():
    torch.manual_seed(0)
    model = nets.Net(8)
    frozen, teachers = Frozen(12), build_teachers(2)
    zoo = {name: getattr(nets, name)(6) for name in ("Net",)}
    encode = LabelEncoder(["a", "b", "c", "d"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    data = [(torch.randn(6, 8), ["a", "b", "c", "d", "a", "b"]) for _ in range(3)]
    bank, means = make_bank(net=teachers["teacher0"], data=data), scores(zoo, data)
    print(frozen.describe())
    out = []
    for i, (x, names) in enumerate(data):
        labels = encode(names)
        hint = frozen(x).float() + ensemble(teachers, x)
        output = model(x)
        loss = F.cross_entropy(output, labels) + F.mse_loss(output.float(), hint) * bank[i] + means["Net"]
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        out.append(loss.item())
    return out, list(model.parameters()), bank, means


if __name__ == "__main__":
    print(main())
