# expect: manual
import torch
import torch.nn.functional as F
from apex import amp


class Agent:
    def __init__(self, conf):
        self.actor, self.critic = torch.nn.Linear(4, 2), torch.nn.Linear(6, 1)
        self.actor_opt = torch.optim.Adam(self.actor.parameters())
        self.critic_opt = torch.optim.Adam(self.critic.parameters())
        if conf.fp16:
            self.actor, self.actor_opt = amp.initialize(self.actor, self.actor_opt, opt_level="O1")
            self.critic, self.critic_opt = amp.initialize(self.critic, self.critic_opt, opt_level="O1")

    def train(self, args, x, y):
        loss = F.mse_loss(self.critic(torch.cat([x, y], 1)), y)
        self.critic_opt.zero_grad()
        if args.fp16:
            with amp.scale_loss(loss, self.critic_opt) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        if args.fp16:
            torch.nn.utils.clip_grad_norm_(amp.master_params(self.critic_opt), args.clip)
        else:
            torch.nn.utils.clip_grad_norm_(self.critic.parameters(), args.clip)
        self.critic_opt.step()
        loss = -self.critic(torch.cat([x, self.actor(x)], 1)).mean()
        self.actor_opt.zero_grad()
        if args.fp16:
            with amp.scale_loss(loss, self.actor_opt) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        if args.fp16:
            torch.nn.utils.clip_grad_norm_(amp.master_params(self.actor_opt), args.clip)
        else:
            torch.nn.utils.clip_grad_norm_([*self.actor.parameters(), *self.critic.parameters()], args.clip)
        self.actor_opt.step()
