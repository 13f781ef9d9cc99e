def build(optimizer: "apex.parallel.LARC") -> "LARC":
    return optimizer
