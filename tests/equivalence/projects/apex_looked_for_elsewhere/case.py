# expect: safe

from train import train


def main():
    return train(fp16=True)

if __name__ == "__main__":
    print(main())
