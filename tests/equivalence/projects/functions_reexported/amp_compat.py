from apex.amp import initialize, master_params, scale_loss

__all__ = ["initialize", "master_params", "scale_loss"]
