"""Measures of counterfactuals from anywhere, one row at a time and as a set."""
