from transformers.utils import is_apex_available

if is_apex_available():
    print("apex is there")
