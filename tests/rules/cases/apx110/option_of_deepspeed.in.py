CONFIG = {"optimizer": {"type": "FusedAdam", "params": {"lr": 1e-3, "adam_w_mode": True}}, "amp": {"enabled": False}}
