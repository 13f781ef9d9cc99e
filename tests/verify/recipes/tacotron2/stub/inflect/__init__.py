class engine:
    pass
