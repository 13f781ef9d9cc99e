# expect: safe

from common import *
from train_fold import train_fold


def main():
    seed_everything(42)
    model = nn.Linear(5, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    if HAS_APEX:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1", verbosity=0)
    loader = [(torch.randn(4, 5), torch.randint(0, 2, (4,)).float()) for _ in range(3)]
    result = [train_fold(model, optimizer, loader) for _ in range(2)]
    print(result)
    return result, list(model.parameters())


if __name__ == "__main__":
    print(main())
