"""Golden outputs: the same requests give the same bytes before and after a change that only moves code."""
