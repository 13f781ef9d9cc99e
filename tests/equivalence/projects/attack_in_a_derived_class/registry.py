class Registry:
    def __init__(self, name):
        self._name, self._obj_map = name, {}

    def register(self, key):
        def deco(cls):
            self._obj_map[key] = cls
            return cls
        return deco

    def get(self, key):
        return self._obj_map[key]


TRAINERS = Registry("trainers")
