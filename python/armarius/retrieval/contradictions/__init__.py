"""What the project says of a thing, and where it disagrees."""
