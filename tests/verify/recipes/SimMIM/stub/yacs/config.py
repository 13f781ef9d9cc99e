"""A stand-in: a tree of options."""

import copy
import json


class CfgNode(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__

    def __deepcopy__(self, memo):
        return CfgNode({name: copy.deepcopy(value, memo) for name, value in self.items()})

    def clone(self):
        return copy.deepcopy(self)

    def defrost(self):
        pass

    freeze = defrost

    def merge_from_file(self, name):
        with open(name) as stream:
            self._merge(json.load(stream))

    def _merge(self, values):
        for name, value in values.items():
            if isinstance(value, dict):
                self[name]._merge(value)
            else:
                self[name] = value

    def dump(self):
        return json.dumps(self)
