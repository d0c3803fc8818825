"""Short forms of Chinese names, and of foreign names written in Chinese."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from armarius.names.lexicon import letters, words
from armarius.names.people import Form, Person
from armarius.text.scripts import HAN, is_han

__all__ = ["all_titles", "han_forms", "split_name"]

_POINTED: Final = re.compile("[·•‧・．]")
_POINT: Final = re.compile(rf"\s*{_POINTED.pattern}\s*")
_END: Final = r"(?=[，。、；,;）)！\s”」』]|$)"
_KIN: Final = letters("han", "bare_titles") | frozenset("妈爸爹姥嬷母父")
_HAN: Final = f"[{HAN}]"
_COURTESY: Final = re.compile(
    rf"(?:^|[，。、；,;（(\s])(?:表字|字)(?:是|为|曰)?[“「]?({_HAN}{{2}})[”」]?{_END}", re.MULTILINE
)
_BYNAME: Final = re.compile(
    r"(?:^|[，。、；,;（(\s])(?:别号|道号|法号|雅号|小名|小字|乳名|绰号|外号|诨名|诨号|人称|世称|又名|又叫|又称|原名|本名|化名|笔名|艺名|昵称)"
    rf"(?:是|为|叫|作|唤|曰|做)?[“「『]?({_HAN}{{2,4}})[”」』]?{_END}",
    re.MULTILINE,
)


def han_forms(person: Person) -> Iterator[Form]:
    """What a person with a Chinese name may be called; none for a name that begins with no family name."""
    for pattern in (_COURTESY, _BYNAME):
        for match in pattern.finditer(person.said):
            yield Form(match[1], "byname", person.names[0], person)
    if _POINTED.search("".join(person.names)) is not None:
        for name in person.names:
            yield from _foreign(name, person)
    parts = split_name(person.names[0])
    if parts is None:
        return
    family, given = parts
    name = person.names[0]
    if len(given) == 2:
        yield Form(given, "given name", name, person)
    if len(person.names) > 1 or not given:
        return  # whoever lists what somebody is called has listed it
    if len(family) == 2:
        yield Form(family, "family name", name, person)
    else:
        yield from (Form(prefix + family, "familiar form", name, person) for prefix in "小老阿")
    last = given[-1]
    if last != "儿":
        for form in (f"小{last}", f"阿{last}", f"{last}儿", last * 2):
            yield Form(form, "familiar form", name, person)
    if len(given) == 2 and given[0] != last:
        yield Form(f"阿{given[0]}", "familiar form", name, person)


def split_name(name: str) -> tuple[str, str] | None:
    """Family name and given name (林, 雨桐).

    Returns:
        "" for the given name where a title stands in its place (王夫人); None for a name that is made otherwise.
    """
    if not is_han(name):
        return None
    if len(name) in (3, 4) and name[:2] in words("han", "compound_surnames"):
        family = name[:2]
    elif len(name) in (2, 3) and name[0] in letters("han", "surnames"):
        family = name[0]
    else:
        return None
    given = name[len(family) :]
    if given == "儿":  # 平儿: no family name
        return None
    return family, "" if _KIN.issuperset(given) or given in all_titles() else given


@cache
def all_titles() -> frozenset[str]:
    """Every word that may stand behind a family name."""
    rows = ("male", "female", "either", "professions", "wives")
    return frozenset(word for row in rows for word in words("han", row))


def _foreign(name: str, person: Person) -> Iterator[Form]:
    """安娜 and 卡列尼娜 of 安娜·卡列尼娜."""
    parts = _POINT.split(name)
    if len(parts) < 2 or not is_han("".join(parts)):
        return
    for part, kind in ((parts[0], "given name"), (parts[-1], "family name")):
        if len(part) >= 2:
            yield Form(part, kind, name, person)  # type: ignore[arg-type]
