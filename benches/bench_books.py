"""Lorebooks: 10,000 entries read and searched, beside a loop of regular expressions; a Chinese card a turn."""

import json
import random
import re
import time
import tracemalloc

from benches.record import record, summary

from armarius.lorebooks import read_book, scan_of
from armarius.lorebooks.activation import Activator
from armarius.lorebooks.importing import Importing
from armarius.lorebooks.project_books import Books

SYLLABLES = ["ka", "lo", "mi", "ren", "tor", "vas", "el", "du", "shi", "pra", "no", "ge"]
CHINESE = "白鹭灯塔雾夜海渡口船老林小雨默秋风云山水月"
ENTRIES, MESSAGES = 10_000, 20


def names(chance):
    """30,000 made-up names of one or two words."""

    def word(length):
        return "".join(chance.choice(SYLLABLES) for _ in range(length)).capitalize()

    return [word(3) + (f" {word(2)}" if chance.random() < 0.5 else "") for _ in range(30_000)]


def book_bytes(chance, called):
    entry = {
        "keysecondary": [], "constant": False, "selective": True, "selectiveLogic": 0, "addMemo": True, "order": 100,
        "position": 0, "disable": False, "excludeRecursion": False, "preventRecursion": True, "probability": 100,
        "useProbability": True, "depth": 4, "group": "", "scanDepth": None, "caseSensitive": None,
        "matchWholeWords": None, "automationId": "", "role": 0, "sticky": 0, "cooldown": 0, "delay": 0,
    }  # fmt: skip
    entries = {
        str(n): {**entry, "uid": n, "key": chance.sample(called, 3), "comment": f"e{n}",
                 "content": f"The text of entry {n} about {called[n]}. " * 4}
        for n in range(ENTRIES)
    }  # fmt: skip
    return json.dumps({"entries": entries}).encode()


def chat(chance, called, turn):
    """20 messages of 120 words, of which three in a hundred are among the names."""

    def word():
        return (
            chance.choice(called)
            if chance.random() < 0.01
            else chance.choice(["the", "of", "and", "walked", "harbour"])
        )

    return [
        {"name": "User" if at % 2 else "Char", "text": f"{turn} " + " ".join(word() for _ in range(120))}
        for at in range(MESSAGES)
    ]


def by_expressions(book, messages):
    """The same rules with a loop of `re`: whole words of ASCII, case folded, newest message first."""
    word = r"(?:^|[^A-Za-z0-9_]){}(?:$|[^A-Za-z0-9_])"
    patterns = []
    for entry in book:
        keys = [key.text.lower() for key in entry.match.keys]
        patterns.append([
            key if " " in key else re.compile(word.format(re.escape(key))) for key in keys
        ])  # fmt: skip
    text = "\n\x01".join(f"{one['name']}: {one['text']}" for one in reversed(messages)).lower()
    start = time.process_time()
    found = {
        entry.id
        for entry, some in zip(book, patterns, strict=True)
        if any((one in text) if isinstance(one, str) else one.search(text) for one in some)
    }
    return found, time.process_time() - start


def test_a_book_of_ten_thousand_entries(tmp_path):
    chance = random.Random(3)
    called = names(chance)
    data = book_bytes(chance, called)
    start = time.process_time()
    Importing(Books(tmp_path)).add(data, name="world.json")
    imported = time.process_time() - start
    tracemalloc.start()
    book = read_book(data)
    most = tracemalloc.get_traced_memory()[1] / len(data)
    tracemalloc.stop()
    activator = Activator()
    settings = {"world_info_depth": MESSAGES}
    activator.search([book], scan_of(messages=chat(chance, called, 0), settings=settings))
    times, active = [], 0
    for turn in range(1, 31):
        messages = chat(chance, called, turn)
        scan = scan_of(messages=messages, settings=settings)
        start = time.process_time()
        found = activator.search([book], scan)
        times.append(time.process_time() - start)
        active = len(found)
    peer, looped = by_expressions(book, messages)
    assert {one.entry.id for one in found} == peer
    record("books", {
        "entries": ENTRIES, "bytes": len(data), "import_s": imported,
        "memory_beside_the_file_in_its_sizes": most, "messages": MESSAGES, "active": active,
        "activation_ms": summary([1000 * one for one in times]), "loop_of_expressions_ms": 1000 * looped,
    })  # fmt: skip
    assert imported <= 1
    assert most <= 3
    assert sorted(times)[len(times) // 2] <= 0.003


def test_a_chinese_card_costs_a_millisecond_a_turn():
    chance = random.Random(5)
    entries = [
        {"id": n, "keys": ["".join(chance.sample(CHINESE, 1 + n % 2)), chance.choice(CHINESE)], "enabled": True,
         "content": "他" + "".join(chance.choices(CHINESE, k=80)), "insertion_order": n // 2, "constant": n < 5,
         "extensions": {"selectiveLogic": 0}}
        for n in range(66)
    ]  # fmt: skip
    card = {"spec": "chara_card_v2", "data": {"name": "x", "character_book": {"entries": entries, "extensions": {}}}}
    book = read_book(json.dumps(card).encode())
    activator, times = Activator(), []
    for _ in range(60):
        messages = [
            {"name": "User", "text": "".join(chance.choices(CHINESE + "的了是在说走看", k=200))} for _ in range(10)
        ]
        scan = scan_of(messages=messages)
        start = time.process_time()
        found = activator.search([book], scan)
        times.append(time.process_time() - start)
        assert len(found) >= 5
    record("books_chinese_card", {"entries": 66, "turn_ms": summary([1000 * one for one in times])})
    assert sorted(times)[len(times) // 2] <= 0.001
