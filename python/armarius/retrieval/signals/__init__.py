"""What speaks for a text, and the reason for it."""
