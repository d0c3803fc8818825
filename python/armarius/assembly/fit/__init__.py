"""What fits the budget."""
