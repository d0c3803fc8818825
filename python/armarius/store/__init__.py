"""The derived index behind one protocol."""
