"""Adapters to frameworks; each needs an extra of the same name and is imported only by its users.

    langchain.py     agent middleware and retriever
    langgraph.py     a node that assembles the prompt
    llama_index.py   retriever
    otel.py          OpenTelemetry spans and metrics

An adapter only converts arguments and results; logic that two adapters need belongs in the engine. Invariants:
importing an adapter without its extra raises an error that names the extra; field names are those of
`armarius.requests`; project text is fenced. The tests run in the real framework.
"""
