CLIP = False
