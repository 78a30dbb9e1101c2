"""The gate and the assessment; stateless."""
