from .fp16util import master_params_to_model_params, prep_param_lists

model_params, master_params = prep_param_lists(model)
master_params_to_model_params(model_params, master_params)
