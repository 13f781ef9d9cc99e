import torch.nn as nn

from apex import amp


def do_train(model, critic, loader, optimizer, critic_optimizer):
    criterion = nn.CrossEntropyLoss()
    losses = []
    for x, y in loader:
        loss = criterion(critic(model(x)), y)
        optimizer.zero_grad()
        critic_optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()

        optimizer.zero_grad()
        critic_optimizer.zero_grad()
        critic_loss = -0.5 * criterion(critic(model(x)), y)
        with amp.scale_loss(critic_loss, critic_optimizer) as scaled_critic_loss:
            scaled_critic_loss.backward()
        critic_optimizer.step()
        losses.append((loss.item(), critic_loss.item()))
    return losses
