from .scaler import *  # noqa
