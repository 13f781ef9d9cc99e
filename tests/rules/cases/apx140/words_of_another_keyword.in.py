legend = plot(label="amp_backend", backend="agg")
