"""Audio: amp is an amplifier, loss is in decibel."""
import math


class Amp:
    def initialize(self, gain, loss, opt_level="O1"):
        return gain, loss

    def scale_loss(self, loss, gain):
        return loss * gain

    def master_params(self, desk):
        return [fader for fader in desk]


amp = Amp()
gain, loss = amp.initialize(2.0, 0.5, opt_level="O1")
print(amp.scale_loss(loss, gain), amp.master_params([1, 2]), math.log10(gain))
