def train_one_epoch(model, criterion, loader, optimizer, loss_scaler, max_norm=1.0):
    out = []
    for samples, targets in loader:
        outputs = model(samples.cuda())
        loss = criterion(outputs, targets.cuda())
        optimizer.zero_grad()
        is_second_order = hasattr(optimizer, "is_second_order") and optimizer.is_second_order
        if loss_scaler is not None:
            loss_scaler(loss, optimizer, clip_grad=max_norm, parameters=model.parameters(), create_graph=is_second_order)
        else:
            loss.backward()
            optimizer.step()
        out.append(loss.item())
    return out
