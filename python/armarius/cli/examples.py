"""A line or two to copy, for the help of each command; every one is parsed by the tests."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "assemble": "armarius assemble novel/ --query '检查第3章的角色一致性' --document chapters/ch003.md --budget 8000",
    "inspect": "armarius inspect novel/ --query 'who keeps the lighthouse' --budget 8000 --html report.html",
    "ask": "armarius ask novel/ 'who keeps the lighthouse' --budget 8000 | llm",
    "detect": "armarius detect novel/ --text '小雨推开门走了进来' --cards",
    "retrieve": "armarius retrieve novel/ 'who keeps the lighthouse' --chapters 1-40 --explain",
    "evidence": "armarius evidence novel/ 林小雨 --attribute 年龄",
    "index": "armarius index novel/ --json",
    "search": "armarius search novel/ '“seven forty”' --kind chapter --limit 20",
    "watch": "armarius watch novel/",
    "doctor": "armarius doctor novel/",
    "embed": "armarius embed novel/ --model models/text2vec-base-chinese",
    "import": "armarius import card.png lore.json book.docx --into novel/ --yes",
    "export": "armarius export novel/ --book eldoria --as card-v3",
    "propose": "armarius propose novel/ --write settings/people.md",
    "new": "armarius new my-novel",
    "completion": "armarius completion zsh",
    "evaluate": "armarius evaluate novel/ questions.jsonl --budget 8000 --misses",
    "serve": "armarius serve novel/",
    "channel": "armarius channel novel/",
    "studio": "armarius studio novel/ --no-browser",
    "server": "armarius server push novel/ --store postgresql://localhost/novels --project novel-1",
    "code-index": "armarius code-index repo/",
    "subgraph": "armarius subgraph repo/ Context.invoke --direction callers --depth 2",
    "trust": "armarius trust novel/",
}
