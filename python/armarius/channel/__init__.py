"""The channel: JSON-RPC 2.0 over standard input and output, for hosts in other languages.

server.py (reads requests, answers them; the methods are those of `armarius.verbs`)
"""
