import torch

class Trainer(object):
    def __init__(self, args, model, dataloader, num_train_steps, step_callback=None):
        self.args = args
        self.model = model
        self.dataloader = dataloader
        self.num_train_steps = num_train_steps
        self.step_callback = step_callback
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(self):
        model = self.model
        optimizer = self.optimizer
        if self.args.fp16:
            from apex import amp
            model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
        global_step = 0
        model.train()
        while True:
            for step, (x, y) in enumerate(self.dataloader):
                loss = model(x, y)
                if self.args.fp16:
                    with amp.scale_loss(loss, optimizer) as scaled_loss:
                        scaled_loss.backward()
                else:
                    loss.backward()
                if self.args.max_grad_norm != 0.0:
                    if self.args.fp16:
                        torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), self.args.max_grad_norm)
                    else:
                        torch.nn.utils.clip_grad_norm_(model.parameters(), self.args.max_grad_norm)
                self.optimizer.step()
                model.zero_grad()
                global_step += 1
                if self.step_callback is not None:
                    self.step_callback(model, global_step)
                if global_step == self.num_train_steps:
                    break
            if global_step == self.num_train_steps:
                break
        return model, global_step
