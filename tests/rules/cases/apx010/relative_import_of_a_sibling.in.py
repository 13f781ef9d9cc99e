from . import apex
from .amp import apex as amp

amp.initialize(apex)
