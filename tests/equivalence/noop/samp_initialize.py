"""A search with a sampler. NVIDIA apex is not used here."""


class Sampler:
    def __init__(self, k):
        self.k = k

    def initialize(self, memory, lengths, opt_level="O1"):
        return memory[: self.k], lengths[: self.k]

    def scale_loss(self, loss, factor):
        return loss * factor


samp = Sampler(2)
memory, lengths = samp.initialize([1, 2, 3], [3, 2, 1], opt_level="O1")
print(memory, lengths, samp.scale_loss(2.0, 0.5))
