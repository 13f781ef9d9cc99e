from common import *


def train_fold(model, optimizer, loader):
    avg_loss = 0.
    for images, labels in loader:
        preds = model(images)
        loss = F.binary_cross_entropy_with_logits(preds.squeeze(1), labels)
        if HAS_APEX:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        avg_loss += loss.item() / len(loader)
    return avg_loss
