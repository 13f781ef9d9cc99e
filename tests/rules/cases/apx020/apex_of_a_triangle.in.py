class Triangle:
    def __init__(self, apex, base):
        self.apex, self.base = apex, base

    def initialize(self):
        return self.apex.amp
