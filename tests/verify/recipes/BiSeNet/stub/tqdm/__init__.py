def tqdm(values, *words, **options):
    return values
