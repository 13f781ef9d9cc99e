# expect: review
# shape: an attack scales its loss where it is handed the optimizer, which one of two scripts does; both measure with it

def main():
    import train_fast
    import train_plain
    return train_fast.main(), train_plain.main()


if __name__ == "__main__":
    print(main())
