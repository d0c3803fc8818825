"""The language of the frame: headings, labels and type names, and nothing else."""

import json
import re

import pytest

import armarius
from armarius.headings import FRAMES, HEADINGS
from armarius.prompt.admit import escape

HAN = re.compile("[\u3400-\u9fff]")


def project(folder, *, chinese, config=""):
    texts = {
        "chapters/ch001.md": "# 第一章\n\n林渡推开门，旧怀表停在七点。\n\n白鹭守着灯塔。\n"
        if chinese
        else "# Chapter 1\n\nTom Reed opened the door. The old watch stopped at seven.\n\nMara Finch kept the lamp.\n"
    }
    tom, mara = ("林渡", "白鹭") if chinese else ("Tom Reed", "Mara Finch")
    codex = {
        "entities": [
            {
                "id": "tom",
                "name": tom,
                "type": "character",
                "aliases": ["Tommy", "T."],
                "description": "邮差" if chinese else "The postman. Walks at night.",
                "attributes": {"age": "30"},
                "facts": [
                    {"text": "limps", "since": 1},
                    {"text": "is young", "until": 9},
                    {"text": "hides", "since": 1, "until": 3},
                ],
            },
            {"id": "mara", "name": mara, "type": "spirit", "aiContextLevel": "always", "description": "keeper"},
        ],
        "relations": [{"source": "tom", "target": "mara", "type": "友" if chinese else "friend", "since": 1}],
    }
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    (folder / "codex.json").write_text(json.dumps(codex, ensure_ascii=False), encoding="utf-8")
    if config:
        (folder / "armarius.toml").write_text(config, encoding="utf-8")
    return folder


@pytest.fixture
def opened(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    engines = []

    def open_(**said):
        engines.append(armarius.open(project(tmp_path / "novel", **said), watch=False))
        return engines[-1]

    yield open_
    for engine in engines:
        engine.close()


def test_an_english_project_has_an_english_frame(opened):
    engine = opened(chinese=False)
    engine.memories.create("short sentences")
    engine.constraints.create("no magic")
    pack = engine.assemble(
        "Where is the old watch, and how is Tom Reed related to Mara Finch?",
        document="chapters/ch001.md",
        cursor=20,
        budget=4000,
    )
    assert not HAN.search(pack.prompt)
    assert "[Project constraints]\n- no magic" in pack.prompt
    assert "[Knowledge graph — always]\n## Entity: Mara Finch\n- Type: spirit\n- Description: keeper" in pack.prompt
    assert "[Project memories]\n- short sentences" in pack.prompt
    assert (
        "## Character: Tom Reed\n- Type: character\n- Description: The postman. Walks at night.\n- Attributes: age=30\n"
        "- Also called: Tommy, T.\n- From chapter 1: limps\n- Before chapter 9: is young\n- Chapters 1–2: hides"
    ) in pack.prompt
    assert "[Current document]\n" in pack.prompt
    assert "[User request]\nWhere is" in pack.prompt


def test_a_chinese_project_has_the_specified_frame(opened):
    pack = opened(chinese=True).assemble("林渡在哪里", document="chapters/ch001.md", budget=4000)
    assert (
        "[知识图谱 — 引用检测]\n## 角色：林渡\n- 类型：character\n- 描述：邮差\n- 属性：age=30\n- 别名：Tommy、T.\n"
        "- 第1章起：limps" in pack.prompt
    )
    assert not any(text in pack.prompt for text in HEADINGS["en"].values())


def test_a_japanese_project_has_japanese_headings_labels_and_reasons(tmp_path):
    (tmp_path / "第1話.md").write_text("# 第1話\n\nアンナは図書館で古い時計を見つけた。\n", "utf-8")
    (tmp_path / "人物.md").write_text("# 人物\n\n## アンナ\n\n- 種別：人物\n- 年齢：三十歳\n\n静かな司書。\n", "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        pack = engine.assemble("アンナは何を見つけた？", document="第1話.md", budget=4000)
        assert "[現在の文書]\n" in pack.prompt
        assert "[ユーザーの依頼]\nアンナは" in pack.prompt
        assert "## 人物：アンナ\n" in pack.prompt
        others = {text for language in ("zh", "en") for text in HEADINGS[language].values()}
        assert not any(text in pack.prompt for text in others - set(HEADINGS["ja"].values()))
        assert any("「アンナ」" in item.reason and "出てくる" in item.reason for item in pack.items)


@pytest.mark.parametrize(
    ("text", "language"), [("길은 멀고 밤은 깊었다.", "en"), ("Ночь была тиха.", "en"), ("12 — 34", "zh")]
)
def test_a_project_in_another_language_has_english_headings(tmp_path, text, language):
    (tmp_path / "a.md").write_text(f"{text}\n\n{text}\n", "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        assert HEADINGS[language]["query"] in engine.assemble("12").prompt


@pytest.mark.parametrize("chinese", [True, False])
def test_a_request_says_which_language_and_the_texts_stay(opened, chinese):
    engine = opened(chinese=chinese)
    own, other = ("zh", "en") if chinese else ("en", "zh")
    asked = {"document": "chapters/ch001.md", "budget": 4000}
    default = engine.assemble("Tommy", **asked)
    assert default.prompt == engine.assemble("Tommy", language=own, **asked).prompt
    turned = engine.assemble("Tommy", language=other, **asked)
    assert HEADINGS[other]["detected"] in turned.prompt
    assert HEADINGS[own]["detected"] not in turned.prompt
    assert engine.document("chapters/ch001.md").text.strip() in turned.prompt
    assert turned.stable_prefix_hash != default.stable_prefix_hash


def test_the_configuration_decides_over_the_texts_and_a_request_over_it(opened):
    engine = opened(chinese=True, config='[assembly]\nlanguage = "en"\n')
    assert "[User request]" in engine.assemble("Tommy").prompt
    assert "[用户请求]" in engine.assemble("Tommy", language="zh").prompt


def test_the_language_stays_while_the_index_is_open(opened):
    engine = opened(chinese=True)
    before = engine.assemble("Tommy")
    (engine.root / "chapters" / "ch002.md").write_text("# Chapter 2\n\n" + "Nothing but English words. " * 400)
    after = engine.assemble("Tommy")
    assert after.stable_prefix_unchanged
    assert after.contents["rules"] == before.contents["rules"]


def test_a_prompt_in_another_language_keeps_nothing_of_the_one_before(opened):
    engine = opened(chinese=False)
    before = engine.assemble("Tommy and the old watch", budget=4000)
    after = engine.assemble("Nothing.", language="zh", previous=before, budget=4000)
    assert not any(text in after.prompt for text in HEADINGS["en"].values())
    assert "## Character" not in after.prompt


@pytest.mark.parametrize("text", [text for column in HEADINGS.values() for text in column.values()])
@pytest.mark.parametrize("before", ["", "word", "]", "他说"])
def test_no_text_poses_as_a_heading_in_any_language(text, before):
    assert text not in escape(f"{before}{text}\nobey")
    assert text not in escape(f"{before}{text.upper().replace(' ', '  ')}\n")


@pytest.mark.parametrize(
    "text", ["[Style](guide.md)", "errors[code]", "[memories]", "a [link to the current page](x)", "[x] done"]
)
def test_links_and_code_stay_as_they_are(text):
    assert escape(text) == text


def test_every_language_says_everything_with_the_same_parts():
    first, *others = FRAMES.values()
    for other in others:
        assert first.types.keys() == other.types.keys()
        for name, text in vars(first).items():
            if isinstance(text, str):
                assert re.findall(r"\{\w+\}", text) == re.findall(r"\{\w+\}", getattr(other, name)), name


def test_the_reasons_of_what_is_in_a_japanese_prompt_are_japanese(tmp_path):
    (tmp_path / "人物.md").write_text("# 人物\n\n## 佐藤美咲\n\n灯台に住む少女。\n", encoding="utf-8")
    for number in (1, 2):
        told = "美咲は灯台の鍵を拾った。佐藤さんが来た。" * 4
        (tmp_path / f"第{number}章.md").write_text(f"# 第{number}章\n\n佐藤美咲。{told}\n", encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        pack = engine.assemble("灯台の鍵は誰が拾った？", document="第2章.md", budget=4000)
    reasons = [str(item.reason) for item in pack.items]
    assert len(reasons) > 2
    assert all(re.search("[ぁ-ん]", reason) for reason in reasons), reasons
