"""What is written through the API, kept in readable files."""
