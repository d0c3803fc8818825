"""An agent of a framework with a scripted model over MCP by HTTP: `python mcp_agents.py FRAMEWORK ADDRESS TOKEN`.

Prints what `find` and `read` answered, a line each. Run with the frameworks that need version 1 of the MCP SDK on the
path: `make code-tools`.
"""

import asyncio
import sys

CALLS = (
    ("find", {"query": "谁从档案馆裁走了第十八页", "variants": ["周远从档案馆裁下了第十八页"]}),
    ("read", {"path": "chapters/ch005.md", "lines": [19, 19]}),
)


async def langgraph(address, token):
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import load_mcp_tools

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, *_, **__):
            return self

    turns = [AIMessage("", tool_calls=[{"name": name, "args": given, "id": name}]) for name, given in CALLS]
    served = {"transport": "streamable_http", "url": address, "headers": {"Authorization": f"Bearer {token}"}}
    async with MultiServerMCPClient({"novel": served}).session("novel") as session:
        agent = create_agent(Scripted(messages=iter([*turns, AIMessage("done")])), await load_mcp_tools(session))
        state = await agent.ainvoke({"messages": [("human", "谁裁走了第十八页？")]})
    told = [one for one in state["messages"] if isinstance(one, ToolMessage)]
    return [one.content if isinstance(one.content, str) else one.content[0]["text"] for one in told]


async def pydantic_ai(address, token):
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    def scripted(messages, _):
        done = sum(isinstance(message, ModelResponse) for message in messages)
        return ModelResponse(parts=[ToolCallPart(*CALLS[done]) if done < len(CALLS) else TextPart("done")])

    server = MCPToolset(address, headers={"Authorization": f"Bearer {token}"})
    async with Agent(FunctionModel(scripted), toolsets=[server]) as agent:
        ran = await agent.run("谁裁走了第十八页？")
    parts = [part for message in ran.all_messages() for part in message.parts]
    return [part.content for part in parts if isinstance(part, ToolReturnPart)]


if __name__ == "__main__":
    for text in asyncio.run({"langgraph": langgraph, "pydantic_ai": pydantic_ai}[sys.argv[1]](*sys.argv[2:])):
        print(" ".join(str(text).split("\n")))
