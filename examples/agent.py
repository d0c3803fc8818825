"""An agent of the OpenAI Agents SDK that works on a novel over MCP.

    pip install 'armarius[mcp]' openai-agents
    python examples/agent.py examples/novel                      # starts a server of its own
    python examples/agent.py http://127.0.0.1:8300/mcp           # asks the one of `armarius serve --http`

`Scripted` stands in the place of a model, so that this runs without a network and a key: it asks for the tools that a
model would ask for, and answers with what they found. For a real agent give `Agent` the name of a model instead. It
adds a character: a folder is copied first; the server needs `--allow-write`, and ARMARIUS_TOKEN is its token.
"""

import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServer, MCPServerStdio, MCPServerStreamableHttp
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

CALLS = (
    (
        "find",
        {"query": "who cut page eighteen", "variants": ["周远从档案馆裁下了第十八页", "第十八页是谁裁走的"]},
        r"¶\d+ “那一页.*",
    ),
    (
        "propose",
        {
            "name": "灯芯婆婆",
            "type": "character",
            "description": "渡口卖灯芯的老人。",
            "relations": [{"type": "邻居", "to": "林默"}, {"type": "旧识", "to": "顾长河"}],
        },
        "Proposed .* relations",
    ),
    ("evidence", {"name": "林小雨", "attribute": "特征"}, "chapter 3 .*"),
)
"""Who cut page eighteen; add a character with two relations; check chapter 3: tool, arguments, what is told of it."""


class Scripted(Model):
    """Calls each tool of `CALLS`, one a turn, then says what came of it."""

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[Any],  # noqa: A002 - as the SDK names it
        *_: object,
        **__: object,
    ) -> ModelResponse:
        """The next call, or the answer."""
        answers = [one["output"] for one in input if "output" in one] if isinstance(input, list) else []
        told = ["".join(part["text"] for part in answer) for answer in answers]
        item: ResponseFunctionToolCall | ResponseOutputMessage
        if len(told) < len(CALLS):
            name, given, _said = CALLS[len(told)]
            asked = json.dumps(given, ensure_ascii=False)
            item = ResponseFunctionToolCall(
                type="function_call", call_id=f"call{len(told)}", name=name, arguments=asked
            )
        else:
            found = [re.search(pattern, text) for (_, _, pattern), text in zip(CALLS, told, strict=True)]
            text = "\n".join("nothing" if one is None else one[0] for one in found)
            part = ResponseOutputText(type="output_text", text=text, annotations=[])
            item = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *_: object, **__: object) -> AsyncIterator[Any]:
        """Not asked for here."""
        raise NotImplementedError


async def work(where: str) -> str:
    """Let the agent do its three tasks, in a folder or at the address of a server; returns what it says at the end."""
    if where.startswith("http"):
        headers = {"Authorization": f"Bearer {os.environ['ARMARIUS_TOKEN']}"}
        return await _work(MCPServerStreamableHttp(params={"url": where, "headers": headers}))
    with tempfile.TemporaryDirectory() as place:
        copy = shutil.copytree(where, Path(place) / "novel")
        serve = {"command": sys.executable, "args": ["-m", "armarius", "serve", str(copy), "--allow-write"]}
        return await _work(MCPServerStdio(params=serve, client_session_timeout_seconds=60))


async def _work(server: MCPServer) -> str:
    async with server:
        agent = Agent("editor", instructions="Answer from the novel.", model=Scripted(), mcp_servers=[server])
        return str((await Runner.run(agent, "谁裁走了第十八页？加一个人物；核对第三章。")).final_output)


if __name__ == "__main__":
    set_tracing_disabled(True)
    print(asyncio.run(work(sys.argv[1])))
