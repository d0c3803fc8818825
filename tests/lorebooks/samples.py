"""One small original book in every format, as bytes; damage is done to these."""

import base64
import io
import json
import struct
import zipfile
import zlib

from armarius.lorebooks.formats.containers import MODULE_HEAD, encode_module

NATIVE = {
    "entries": {
        "10": {"uid": 10, "key": ["oar"], "content": "Ash.", "comment": "Oar", "order": "90",
               "vendor": {"a": [1, 1.0]}},
        "2": {
            "uid": 2, "key": ["白鹭", "/Heron/i"], "keysecondary": ["夜"], "selective": True, "selectiveLogic": 3,
            "content": "@@depth 2\n白鹭怕深水。", "comment": "白鹭", "constant": False, "order": 120, "position": 4,
            "depth": 3, "role": 1, "probability": 80, "useProbability": True, "group": "a, b", "sticky": 2,
            "cooldown": None, "disable": False, "excludeRecursion": True, "scanDepth": 5, "automationId": "run",
            "big": 12345678901234567890, "characterFilter": {"isExclude": False, "names": ["Alma"], "tags": ["t1"]},
        },
    },
    "name": "Harbour",
    "x": None,
}  # fmt: skip
BOOK = {
    "name": "Harbour", "description": "kept", "scan_depth": 4, "token_budget": 500, "recursive_scanning": True,
    "extensions": {"vendor": {"x": 1}},
    "entries": [
        {
            "id": 0, "keys": ["白鹭", "Heron"], "secondary_keys": ["夜"], "selective": True, "content": "怕深水。",
            "comment": "白鹭", "constant": False, "enabled": True, "insertion_order": 100, "position": "before_char",
            "priority": 7, "extensions": {"selectiveLogic": 0, "position": 0, "excludeRecursion": True, "other": [1]},
        },
        {"id": "two", "keys": ["oar"], "content": "Ash.", "enabled": False, "insertion_order": 5, "extensions": {}},
    ],
}  # fmt: skip
CARD = {
    "spec": "chara_card_v2", "spec_version": "2.0",
    "data": {"name": "Alma", "description": "A pilot.", "first_mes": "Hi.", "extensions": {}, "character_book": BOOK},
    "root": 1,
}  # fmt: skip
CARD_3 = {**CARD, "spec": "chara_card_v3", "spec_version": "3.0"}
NOVELAI = {
    "lorebookVersion": 6,
    "entries": [
        {
            "text": "Two tides.", "displayName": "Tides", "id": "t-1", "keys": ["tide", "/ebb/i"], "searchRange": 700,
            "enabled": True, "forceActivation": False, "keyRelative": True, "nonStoryActivatable": True,
            "category": "c1", "contextConfig": {"prefix": "[", "suffix": "]\n", "tokenBudget": 0.2,
            "budgetPriority": 300, "reservedTokens": 10}, "loreBiasGroups": [{"bias": 0}], "new": True,
        },
        {"text": "Bare.", "displayName": "Bare", "keys": ["bare"], "category": "c1"},
    ],
    "settings": {"orderByKeyLocations": True},
    "categories": [{"name": "Sea", "id": "c1", "enabled": True, "useCategoryDefaults": True, "createSubcontext": True,
                    "categoryDefaults": {"searchRange": 50, "contextConfig": {"budgetPriority": 7}}}],
}  # fmt: skip
RISU = {
    "type": "risu", "ver": 1,
    "data": [
        {"key": "\uf000folder:a", "comment": "Sea", "content": "", "mode": "folder", "insertorder": 100,
         "alwaysActive": False, "secondkey": "", "selective": False},
        {"key": "boat, ship", "comment": "Boat", "content": "@@depth 2\nA boat.", "mode": "normal", "insertorder": 90,
         "alwaysActive": False, "secondkey": "night", "selective": True, "useRegex": False, "id": "r1",
         "folder": "\uf000folder:a", "loreCache": {"key": "k"}},
    ],
}  # fmt: skip
MODULE = {"module": {"name": "m", "lorebook": RISU["data"], "regex": [{"in": "a"}], "id": "e"}, "type": "risuModule"}
AGNAI = {
    "kind": "memory", "name": "Harbour", "description": "", "scanDepth": 5,
    "entries": [{"name": "Boat", "entry": "A boat.", "keywords": ["boat", "shi*"], "priority": 3, "weight": 2,
                 "enabled": True, "secondaryKeys": ["sea"]}],
}  # fmt: skip
LITE = [
    {"key": "boat,ship", "keysecondary": "night", "keyanti": "fog", "content": "A boat.", "comment": "c",
     "selective": True, "constant": False, "probability": 50, "wigroup": "Sea", "widisabled": False, "folder": None},
    {"key": "oar", "content": "Ash."},
]  # fmt: skip
STORY = {"gamestarted": True, "prompt": "The boat.", "actions": ["a"], "worldinfo": LITE, "wifolders_d": {}}
LITE_SAVE = {**STORY, "savedsettings": {"case_sensitive_wi": True}, "wisearchdepth": 100}
STORY_2 = {
    "file_version": 2, "prompt": "x", "actions": {"action_count": 0, "actions": {"0": {"Selected Text": "The boat."}}},
    "worldinfo_v2": {"folders": {"root": [0]}, "entries": {"0": {
        "uid": 0, "title": "Boat", "key": ["boat"], "keysecondary": ["old"], "constant": False, "content": "A boat.",
        "manual_text": "A boat.", "selective": True, "type": "commentator", "use_wpp": True, "wpp": {"type": "Item"}}}},
}  # fmt: skip
DUNGEON = [{"keys": "boat,ship", "value": "A boat.", "type": "item", "title": "Boat", "description": "private"}]
TAVERN_HELPER = {"version": "1", "entries": {"0": {
    "name": "Boat", "content": "A boat.", "enabled": True,
    "strategy": {"type": "selective", "keys": ["boat"], "keys_secondary": {"logic": "not_any", "keys": ["fog"]},
                 "scan_depth": 3},
    "position": {"type": "at_depth", "role": "user", "depth": 1, "order": 90},
    "recursion": {"prevent_incoming": True, "prevent_outgoing": False, "delay_until": 2},
    "effect": {"sticky": 2}}}}  # fmt: skip
SCENARIO = {"scenarioVersion": 3, "title": "Sea", "context": [{"text": "memory"}], "lorebook": NOVELAI}
NOVEL_STORY = {"storyContainerVersion": 1, "metadata": {"title": "Sea"}, "content": {"lorebook": NOVELAI, "story": 1}}
V1 = {"name": "Alma", "description": "A pilot.", "first_mes": "Hi.", "personality": ""}
VAULT = {"armarius": "vault", "files": {
    "Lore/Boat.md": "---\ntags: [lorebook]\nkeys: [boat, 船]\npriority: 50\n---\nSee [[Oar|the oar]]. ![[x.png]]\n",
    "Lore/Plain.md": "no lore\n"}}  # fmt: skip


def text(tree, **layout) -> bytes:
    return json.dumps(tree, ensure_ascii=False, **layout).encode()


def picture(**texts) -> bytes:
    """A PNG of one pixel with text chunks."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    parts = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))]
    parts.append(chunk(b"tEXt", b"Software\0a test"))
    parts += [chunk(b"tEXt", key.encode() + b"\0" + base64.b64encode(text(tree))) for key, tree in texts.items()]
    parts += [chunk(b"IDAT", zlib.compress(b"\0\0\0\0")), chunk(b"IEND", b"")]
    return b"".join(parts)


def archive(members, front=b"") -> bytes:
    made = io.BytesIO()
    made.write(front)
    with zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED) as target:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6))
            info.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(info, data)
    return made.getvalue()


def module(tree) -> bytes:
    """A module whose JSON uses only bytes with known codes, with an asset block behind it."""
    code = encode_module(json.dumps(tree).encode(), "module")
    return MODULE_HEAD + struct.pack("<I", len(code)) + code + b"\x01" + struct.pack("<I", 3) + b"abc" + b"\0"


SMALL_MODULE = {"module": {"name": "sea", "lorebook": [
    {"key": "boat", "comment": "a", "content": "a boat", "mode": "normal", "insertorder": 100, "alwaysActive": False,
     "secondkey": "", "selective": False}]}, "type": "risuModule"}  # fmt: skip
ENTRY = "characters/alma-2mZ4qk7Yw1uQf8sT3vBn6xLcRd1"
NOVELCRAFTER = {
    f"{ENTRY}/metadata.json": text({
        "id": "2mZ4qk7Yw1uQf8sT3vBn6xLcRd1", "relationships": {"nestedEntries": []},
        "attributes": {"type": "character", "name": "Alma", "aliases": ["小白"], "alwaysIncludeInContext": False,
                       "doNotTrack": False, "noAutoInclude": False}}),
    f"{ENTRY}/entry.md": "---\ntype: character\nname: Alma\nalwaysIncludeInContext: false\nnoAutoInclude: false\n"
                         "---\n\nA pilot.\n",
    f"{ENTRY}/notes.md": "private",
    "novel.md": "# Sea\n", "snippets/n.md": "x",
}  # fmt: skip

FILES = {
    "sillytavern-world-info": text(NATIVE, indent=4) + b"\n",
    "bom": b"\xef\xbb\xbf" + text({"entries": {"0": {"uid": 0, "key": ["a"], "content": "b"}}}),
    "character-card-v1": text(V1),
    "character-card-v2": text(CARD, indent=2),
    "character-card-v3": text(CARD_3, separators=(",", ":")),
    "lorebook-v3": text({"spec": "lorebook_v3", "data": BOOK}),
    "character-book": text(BOOK),
    "png-v2": picture(chara=CARD),
    "png-both": picture(chara=CARD, ccv3=CARD_3),
    "png-naidata": picture(naidata=NOVELAI),
    "charx": archive({"card.json": text(CARD_3), "assets/a.png": b"\x89PNG"}, front=b"\xff\xd8\xff\xe0 jpeg"),
    "charx-module": archive({"card.json": text(CARD_3), "module.risum": module(SMALL_MODULE)}),
    "risum": module(SMALL_MODULE),
    "risu-lorebook": text(RISU),
    "risu-module": text(MODULE),
    "novelai-lorebook": text(NOVELAI),
    "novelai-scenario": text(SCENARIO),
    "novelai-story": text(NOVEL_STORY),
    "agnai-memory-book": text(AGNAI),
    "kobold-lite-world-info": text(LITE),
    "kobold-lite-save": text(LITE_SAVE),
    "koboldai-story": text(STORY),
    "koboldai-story-v2": text(STORY_2),
    "ai-dungeon-world-info": text(DUNGEON),
    "tavernhelper-worldbook": text(TAVERN_HELPER, indent=2),
    "novelcrafter-export": archive(NOVELCRAFTER),
    "obsidian-vault": text(VAULT),
}
"""Name of the sample to its bytes; the name is its format where that is one."""
OTHER_NAMES = {
    "bom": "sillytavern-world-info", "png-v2": "character-card-v2", "png-both": "character-card-v3",
    "png-naidata": "novelai-lorebook", "charx-module": "charx", "risum": "risu-module",
}  # fmt: skip
