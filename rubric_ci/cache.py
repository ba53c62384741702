"""Valid judgements, kept by what determines them; effects."""
