# expect: manual

import torch

import train_plain


def main():
    torch.manual_seed(1)
    data = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(3)]
    first = train_plain.run(data)
    import train_mixed
    return first, train_mixed.run(data)


if __name__ == "__main__":
    print(main())
