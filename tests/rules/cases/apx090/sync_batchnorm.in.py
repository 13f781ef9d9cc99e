# expect: manual apex.parallel is not migrated
import apex

model = apex.parallel.convert_syncbn_model(model)
