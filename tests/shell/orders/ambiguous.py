import torch

try:
    import apex
    from apex import amp
except ImportError:
    import stand_in as apex
    from stand_in import amp


def main(loader):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        apex.optimizers.FusedAdam([])
        optimizer.step()
        optimizer.zero_grad()
