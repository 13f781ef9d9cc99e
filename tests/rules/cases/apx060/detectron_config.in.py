# the apex backend is switched on elsewhere
cfg.SOLVER.AMP.BACKEND = "apex"
cfg.SOLVER.AMP.OPT_LEVEL = "O1"
trainer = Trainer(cfg)
trainer.train()
