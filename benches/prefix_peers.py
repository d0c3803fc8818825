"""Other ways to assemble the same material, each as its own documentation shows it.

Every contestant gets one step's material and the limit in tokens, and returns the prompt it would
send. `plain` is what is written without a library: the best items, then as much text as fits.
Peers that are not installed are left out. `prompt-poet` brings a cloud provider's client library and is
therefore no development dependency: `pip install prompt-poet cendor-contextkit` by hand to compare.
"""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

from armarius import TokenCounter, truncate


@dataclass(frozen=True)
class Material:
    """What a step has to say: stable text, retrieved items by value, the text before the cursor, the question."""

    stable: str
    retrieved: tuple[str, ...]
    paragraphs: tuple[str, ...]
    query: str


Contestant = Callable[[Material, int], str]


def plain(counter: TokenCounter) -> Contestant:
    def assemble(material: Material, limit: int) -> str:
        items: list[str] = []
        for item in material.retrieved:
            if counter.count("\n\n".join([*items, item])) <= limit * 30 // 100:
                items.append(item)
        head, tail = "\n\n".join([material.stable, *items, ""]), "\n\n" + material.query
        left = limit - counter.count(head) - counter.count(tail) - 2
        text = truncate("\n\n".join(material.paragraphs), left, keep="tail", boundary="character", counter=counter).text
        return head + text + tail

    return assemble


def trim_messages(counter: TokenCounter) -> Contestant | None:
    if importlib.util.find_spec("langchain_core") is None:
        return None
    from langchain_core.messages import HumanMessage, SystemMessage
    from langchain_core.messages import trim_messages as trim

    def assemble(material: Material, limit: int) -> str:
        said = [*material.paragraphs, *material.retrieved, material.query]
        messages = [SystemMessage(material.stable), *(HumanMessage(text) for text in said if text)]
        kept = trim(
            messages,
            max_tokens=limit,
            strategy="last",
            include_system=True,
            token_counter=lambda listed: sum(counter.count_batch([m.content + "\n\n" for m in listed])),
        )
        return "\n\n".join(message.content for message in kept)

    return assemble


def prompt_poet(counter: TokenCounter) -> Contestant | None:
    if importlib.util.find_spec("prompt_poet") is None:
        return None
    from prompt_poet import Prompt

    template = """
- name: stable
  role: system
  content: "{{ escape_special_characters(stable) }}"
{% for text in paragraphs %}
- name: paragraph_{{ loop.index }}
  role: user
  truncation_priority: 1
  content: "{{ escape_special_characters(text) }}"
{% endfor %}
{% for text in retrieved %}
- name: retrieved_{{ loop.index }}
  role: user
  content: "{{ escape_special_characters(text) }}"
{% endfor %}
- name: query
  role: user
  content: "{{ escape_special_characters(query) }}"
"""

    def assemble(material: Material, limit: int) -> str:
        prompt = Prompt(
            template_data={
                "stable": material.stable,
                "paragraphs": [text.replace('"', "'") for text in material.paragraphs],
                "retrieved": [text.replace('"', "'") for text in material.retrieved],
                "query": material.query or "-",
            },
            raw_template=template,
            encode_func=lambda text: [0] * counter.count(text + "\n\n"),
            token_limit=limit,
            truncation_step=limit // 4,
        )
        prompt.tokenize()
        prompt.truncate()
        return "\n\n".join(message["content"] for message in prompt.messages)

    return assemble


def contextkit(counter: TokenCounter) -> Contestant | None:
    if importlib.util.find_spec("cendor") is None:
        return None
    from cendor.contextkit import Block, Context
    from cendor.core import tokens

    def count(said: str | list[dict[str, str]], _model: str) -> int:
        texts = [said] if isinstance(said, str) else [turn["content"] + "\n\n" for turn in said]
        return sum(counter.count_batch(texts))

    tokens.register("openai", count)

    def assemble(material: Material, limit: int) -> str:
        context = Context(budget_tokens=limit, model="gpt-4o")
        context.add(Block(material.stable or "-", role="system", pin=True, priority=10))
        turns = [{"role": "user", "content": text} for text in material.paragraphs if text]
        if turns:
            context.add(Block(messages=turns, evict="drop_oldest", priority=5))
        for item in material.retrieved:
            context.add(Block(item, priority=6, evict="truncate"))
        if material.query:
            context.add(Block(material.query, pin=True, priority=9))
        return "\n\n".join(message["content"] for message in context.assemble())

    return assemble


def contestants(counter: TokenCounter) -> dict[str, Contestant]:
    """Those that are installed."""
    makers = {
        "plain re-assembly": plain,
        "langchain trim_messages": trim_messages,
        "prompt-poet, truncation_step a quarter": prompt_poet,
        "cendor-contextkit": contextkit,
    }
    made = {name: make(counter) for name, make in makers.items()}
    return {name: one for name, one in made.items() if one is not None}
