# expect: safe

def main():
    import main_cls
    import main_reg
    return main_cls.main(["--fp16"]), main_reg.main(["--fp16"])


if __name__ == "__main__":
    print(main())
