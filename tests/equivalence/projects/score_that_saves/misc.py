def evaluate_eval(record, net, optimizer, hist):
    score = hist.diag().sum() / hist.sum()
    record["net"] = net.state_dict()
    record["optimizer"] = optimizer.state_dict()
    record["score"] = float(score)
    return float(score)
