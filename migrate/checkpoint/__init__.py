"""``apex2native convert-checkpoint``: what Apex saved becomes what native code loads, and back."""
