"""An own handle object named amp_handle, handed in by a caller that has nothing to do with apex."""


def optimize(loss, optimizer, amp_handle, amp):
    with amp_handle.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    with amp.scale_loss(loss, optimizer) as other:
        other.backward()
    optimizer.step()
