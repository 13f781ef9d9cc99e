CLIP = True
