"""A game of predators: Apex is a class of this file."""


class Apex:
    def __init__(self, level):
        self.level = level
        self.amp = None

    def initialize(self, *animals, opt_level="O1"):
        return animals

    def scale_loss(self, loss, of):
        return loss


class World:
    def __init__(self):
        self.apex = Apex(3)

    def run(self):
        self.apex.amp = self.apex
        wolf, bear = self.apex.amp.initialize("wolf", "bear", opt_level="O2")
        return self.apex.scale_loss(1.0, wolf), bear


print(World().run())
