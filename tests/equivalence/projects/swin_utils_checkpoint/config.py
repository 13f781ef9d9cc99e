class Config:
    AMP_OPT_LEVEL = "O1"
    OUTPUT = ""
    EPOCHS = 2
    START_EPOCH = 0
    CLIP_GRAD = 5.0


def get_config(**over):
    config = Config()
    for key, value in over.items():
        setattr(config, key, value)
    return config
