"""Characters of closed classes that names are told apart from words by."""

from typing import Final

__all__ = ["FUNCTION", "HAN_FIRST", "HAN_LAST", "TITLE", "is_han"]

HAN_FIRST: Final = "\u3400"
HAN_LAST: Final = "\u9fff"
# Characters that bare titles of a household consist of; the same closed class as in rust/matching/readings.rs.
TITLE: Final = frozenset("大二三四五六七八九十小老少太姐妹哥弟叔伯舅婶姨姑嫂奶爷公婆娘夫人祖宗")
# Words of one character that stand before a title in any sentence; a closed class, never a given name's only use.
FUNCTION: Final = frozenset(
    "了的着过是在和与跟同对向给被把让叫请见问说道听想知怕等去来到回上下进出有没不也都又就还才只便先再"
    "那这你我他她它们将命使替为因从随带陪扶看找接送求打骂笑忙便连与及或并之而以于"
)


def is_han(character: str) -> bool:
    """Whether a character, or every one of several, is a Han character of the basic plane."""
    return bool(character) and all(HAN_FIRST <= one <= HAN_LAST for one in character)
