"""What several chapters' live figures run beside the heads of mhalib: layers of either kernel,
regression, and the rules that are told the data."""
