from compatibility import is_apex_available

has_apex = is_apex_available()
if has_apex:
    from apex import amp
