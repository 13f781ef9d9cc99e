trainer = pl.Trainer(precision=16, amp_backend=args.amp_backend, amp_level=args.amp_level)
