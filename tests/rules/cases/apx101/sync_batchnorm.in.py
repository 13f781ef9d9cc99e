# expect: review Apex's conversion put every batch norm into training mode an
import apex

model = apex.parallel.convert_syncbn_model(model)
