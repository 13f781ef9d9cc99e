# apex has clip_grad_norm_ in contrib; this one is fairscale's
norm = model.clip_grad_norm_(1.0)
optimizer.step()
