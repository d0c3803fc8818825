"""The JSON channel: one request a line, for hosts in other languages.

server.py (reads requests, answers them)   workspace_methods.py (the same over many projects)
"""
