"""What becomes of a unit's gradients: where they are unscaled, who reads them, and where the loss scale is updated."""
