"""Notebooks: their code cells as one text for the engine, and what it says and writes as cells again."""
