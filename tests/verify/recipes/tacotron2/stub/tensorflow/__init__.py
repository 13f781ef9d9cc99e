"""A stand-in: the options of the script, which is all that it takes from TensorFlow 1."""

from types import SimpleNamespace


class HParams(SimpleNamespace):
    def parse(self, words):
        for word in words.split(","):
            name, _, value = word.partition("=")
            kind = type(getattr(self, name))
            setattr(self, name, value == "True" if kind is bool else kind(value))

    def values(self):
        return vars(self)


contrib = SimpleNamespace(training=SimpleNamespace(HParams=HParams))
logging = SimpleNamespace(info=lambda *words: None)
