import torch
import torch.nn as nn

try:
    from apex import amp
except AttributeError:
    pass


class ApexScaler:
    def __call__(self, loss, optimizer, clip_grad=None, parameters=None, create_graph=False):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward(create_graph=create_graph)
        optimizer.step()


def train_epoch(model, loader, optimizer, loss_fn, args, amp_autocast=suppress, loss_scaler=None):
        with amp_autocast():
            output = model(x)
            loss = loss_fn(output, y)
        if loss_scaler is not None:
            loss_scaler(loss, optimizer, clip_grad=args.clip_grad, parameters=model.parameters(), create_graph=second_order)
            if args.clip_grad is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad)


model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model, optimizer = amp.initialize(model, optimizer, opt_level="O2", keep_batchnorm_fp32="True",
                                  loss_scale=128.0, cast_model_outputs=torch.float32)
for step in range(4):
    if args.apex_amp and has_apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
        loss_scaler = ApexScaler()
    losses = train_epoch(model, loader, optimizer, nn.CrossEntropyLoss(), args, amp_autocast, loss_scaler)
