"""The index of one project: kept equal to its folder."""
