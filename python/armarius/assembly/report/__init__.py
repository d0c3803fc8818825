"""The answer of an assembly: prompt, account and how both look."""
