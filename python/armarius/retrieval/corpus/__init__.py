"""The texts of a project as units that can be ranked."""
