"""A CKB server that misbehaves on request; its answers come from a SCIP index and have CKB's shapes."""

import json
import os
import sys
import time
from pathlib import Path

import armarius._core as _core


def main(mode: str, index: str, log: str) -> None:
    root = sys.argv[sys.argv.index("--repo") + 1]
    with Path(log).open("a") as file:
        print(os.getpid(), file=file)
    started = len(Path(log).read_text().split())
    if mode == "dies at once" or (mode == "dies at first" and started == 1):
        print("panic: SQLITE_BUSY", file=sys.stderr)
        sys.exit(2)
    if mode == "noisy":
        sys.stderr.write("x" * 4_000_000 + "\n")
        sys.stderr.flush()
    occurrences = _core.Occurrences.open(index)
    served = 0
    for line in sys.stdin:
        if len(line) > 1 << 20:
            time.sleep(3600)
        request = json.loads(line)
        if "id" not in request:
            continue
        method, params = request["method"], request.get("params") or {}
        if method == "initialize":
            info = {"name": "ckb", "version": "0"}
            reply({"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": info}, request)
            continue
        if method == "tools/list":
            reply({"tools": []}, request)
            continue
        if method != "tools/call":
            print(
                json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": method}}),
                flush=True,
            )
            continue
        served += 1
        if mode == "slow":
            time.sleep(3600)
        if (mode == "dies in between" or (mode == "dies in between once" and started == 1)) and served > 5:
            os._exit(9)
        answer = call(mode, root, occurrences, params["name"], params.get("arguments") or {})
        reply({"content": [{"type": "text", "text": json.dumps(answer)}]}, request)


def call(mode, root, occurrences, tool, arguments):
    if tool == "getActiveRepo":
        return {"data": {"name": "r", "path": "/elsewhere" if mode == "wrong repository" else root}}
    if tool == "getStatus":
        return {"data": {"backends": [{"id": "scip", "available": mode != "no index", "details": "Index not found."}]}}
    if mode == "errors inside" and tool == "findReferences":
        return {"data": None, "error": "[OPERATION_FAILED] something else"}
    if mode == "truncates" and tool == "searchSymbols":
        return {"data": {"symbols": [], "isTruncated": True}}
    if tool == "searchSymbols":
        return {"data": {"symbols": [{"stableId": symbol} for symbol in occurrences.symbols()]}}
    found = occurrences.references(arguments["symbolId"])
    if not found:
        return {"data": None, "error": "[OPERATION_FAILED] find references failed: [SYMBOL_NOT_FOUND] Symbol not found"}
    return {
        "data": {
            "references": [
                {
                    "kind": "definition" if definition else "read",
                    "location": {"fileId": path, "startLine": line, "startColumn": a, "endLine": line, "endColumn": b},
                }
                for path, line, a, b, definition in (
                    (one.path, one.line, one.column, one.end_column, one.is_definition) for one in found
                )
            ]
        }
    }


def reply(result, request):
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4])
