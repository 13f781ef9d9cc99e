import weakref


class HookBase:
    def before_train(self):
        pass

    def after_train(self):
        pass

    def before_step(self):
        pass

    def after_step(self):
        pass


class RunnerBase:
    def __init__(self):
        self._hooks = []

    def register_hooks(self, hooks):
        hooks = [h for h in hooks if h is not None]
        for h in hooks:
            assert isinstance(h, HookBase)
            h.trainer = weakref.proxy(self)
        self._hooks.extend(hooks)

    def train(self):
        for h in self._hooks:
            h.before_train()
        for self.iter in range(self.max_iter):
            self.inner_iter = 0
            for h in self._hooks:
                h.before_step()
            for _ in range(self.accumulate):
                self.run_step()
                self.inner_iter += 1
                for h in self._hooks:
                    h.after_step()
        for h in self._hooks:
            h.after_train()
