class Learner:
    def __init__(self, model, opt, loss_func, hooks):
        self.model, self.opt, self.loss_func, self.hooks = model, opt, loss_func, hooks
        for hook in hooks:
            hook.learn = self

    def __call__(self, name):
        for hook in self.hooks:
            if hasattr(hook, name):
                getattr(hook, name)()

    def fit(self, epochs, train):
        self("begin_fit")
        for self.epoch in range(epochs):
            self.model.train()
            for self.xb, self.yb in train:
                self.loss = self.loss_func(self.model(self.xb), self.yb)
                self.backward(self.loss)
                self("after_backward")
                self.opt.step()
                self("after_step")
                self.opt.zero_grad()

    def backward(self, loss):
        loss.backward()
