class ToTensor:
    def __call__(self, image):
        return image
