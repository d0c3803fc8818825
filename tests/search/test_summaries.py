"""What sums chapters up counts in retrieval; how it is asked for, read, kept and priced."""

import asyncio
import json
import threading
import time

import pytest

import armarius
from armarius.codex import PassageSummary

LINES = ("The kettle sang. ", "A dog barked at the gate. ", "Rain fell on the slates. ", "Nobody spoke for a while. ")
ASKED = "who is betrayed"


@pytest.fixture
def novel(tmp_path):
    for number in range(1, 7):
        paragraphs = (f"{LINES[at % 4] * 3}{at}{'abcdef'[number - 1]}" for at in range(12))
        text = f"# Chapter {number}\n\n" + "\n\n".join(paragraphs)
        (tmp_path / f"ch{number:03}.md").write_text(text, encoding="utf8")
    return tmp_path


@pytest.fixture
def engine(novel):
    with armarius.open(novel, watch=False, index_dir=novel.parent / "index") as engine:
        yield engine


def kept(engine, novel):
    engine.summaries.set("ch004.md", "Alma is betrayed by her brother.")


def in_front_matter(engine, novel):
    path = novel / "ch004.md"
    path.write_text(f"---\nsummary: Alma is betrayed by her brother.\n---\n{path.read_text('utf8')}", encoding="utf8")


def in_a_file(engine, novel):
    said = ["A letter.", "A storm.", "Two letters.", "Alma is betrayed by her brother.", "A visit.", "A ship."]
    text = "# Summaries\n\n" + "\n\n".join(f"## Chapter {n}\n\n{one}" for n, one in enumerate(said, 1))
    (novel / "summaries.md").write_text(text, encoding="utf8")


@pytest.mark.parametrize("told", [kept, in_front_matter, in_a_file])
def test_a_summary_lifts_its_chapter(engine, novel, told):
    assert engine.retrieve(ASKED).outcome == "nothing found"
    told(engine, novel)
    found = engine.retrieve(ASKED)
    hit = next(one for one in found if one.path == "ch004.md")
    assert found.outcome != "nothing found"
    assert hit.score == max(one.score for one in found if one.kind == "chapter")
    assert any(why.kind == "outline" and why.detail == "summary: betrayed" for why in hit.evidence)


def test_summaries_of_less_than_half_of_the_story_move_nothing_that_is_found_without_them(engine):
    asked = "who barked at the gate while rain fell on the slates"
    before = [one.score for one in engine.retrieve(asked)]
    for number in range(1, 4):
        said = "Rain fell; a dog barked at the gate."
        engine.summaries.set(f"ch{number:03}.md", said, passages=[PassageSummary(1, 12, said)])
    assert [one.score for one in engine.retrieve(asked)] == before
    engine.summaries.set("ch004.md", said)
    assert [one.score for one in engine.retrieve(asked)] != before


def test_a_passage_of_a_summary_lifts_its_paragraphs(engine):
    engine.summaries.set("ch002.md", "Two letters.")
    engine.summaries.set("ch004.md", "A visit.", passages=[PassageSummary(6, 7, "Alma is betrayed by her brother.")])
    first = engine.assemble(ASKED, budget=4000).items
    assert {one.source for one in first if one.source.startswith("rag:")} >= {
        f"rag:passage:ch004.md#{n}" for n in (6, 7)
    }
    best = max((one for one in first if one.source.startswith("rag:")), key=lambda one: one.score)
    assert best.source in ("rag:passage:ch004.md#6", "rag:passage:ch004.md#7")


def test_what_sums_up_a_text_that_has_changed_does_not_count(engine, novel):
    engine.summaries.set("ch004.md", "A visit.", passages=[PassageSummary(6, 7, "Alma is betrayed by her brother.")])
    assert engine.retrieve(ASKED).outcome != "nothing found"
    path = novel / "ch004.md"
    path.write_text(path.read_text("utf8") + "\n\nThe end.", encoding="utf8")
    assert engine.retrieve(ASKED).outcome == "nothing found"
    assert engine.summaries.stale() == ("ch004.md",)


def test_a_source_of_summaries_that_fails_leaves_the_answer_of_the_texts(engine, monkeypatch):
    def failing():
        raise OSError("disk")

    monkeypatch.setattr(engine._parts.project.summaries, "stamp", failing)
    found = engine.retrieve("who barked at the gate")
    assert found.outcome == "found"
    assert any(str(one).startswith("MEMORY_UNAVAILABLE") for one in found.warnings)


GOOD = {
    "summary": " A visit. ",
    "passages": [{"first": 1, "last": 3, "text": "Tea."}, {"first": 4, "last": 12, "text": "Rain."}],
}
FORM = '{"summary": "…", "passages": [{"first": 1, "last": 4, "text": "…"}]}'
WHOLE = json.dumps(GOOD)
TEA, RAIN = PassageSummary(1, 3, "Tea."), PassageSummary(4, 12, "Rain.")


def test_a_request_numbers_its_paragraphs_and_its_reply_is_kept(engine):
    asked = engine.summaries.request("ch004.md")
    assert "[1] The kettle sang." in asked.text
    assert "[12] " in asked.text
    assert asked.parse(f"```json\n{WHOLE}\n```") == ("A visit.", (TEA, RAIN))
    assert engine.summaries.set("ch004.md", "A visit.", passages=[TEA, RAIN]) == engine.summaries.get("ch004.md")


@pytest.mark.parametrize(
    ("reply", "passages"),
    [
        (f"You want {FORM}.\n\n{WHOLE}", (TEA, RAIN)),
        (f"Draft: {json.dumps({'summary': 'No.'})} Better: {WHOLE} as {{you}} asked", (TEA, RAIN)),
        (f"<think>{json.dumps({'summary': 'No.'})}</think>{WHOLE}", (TEA, RAIN)),
        (f"{FORM}\n{WHOLE.replace('}]', '},],')}", (TEA, RAIN)),
        ({"summary": "A visit.", "passages": None}, ()),
        ({"summary": "A visit.", "passages": {"first": 1, "last": 2, "text": "Tea."}}, ()),
        ({"summary": "A visit."}, ()),
        ({"summary": "A visit.", "passages": [{"first": "1", "last": "[3]", "text": "Tea."}]}, (TEA,)),
        ({"summary": "A visit.", "passages": [{"first": 1.0, "last": 3, "text": "Tea."}, {"first": True}, 4]}, (TEA,)),
        ({"summary": "A visit.", "passages": GOOD["passages"][::-1]}, (TEA, RAIN)),
        (
            {"summary": "A visit.", "passages": [GOOD["passages"][0], {"first": 3, "last": 99, "text": "Rain."}]},
            (TEA, RAIN),
        ),
        (
            {"summary": "A visit.", "passages": [*GOOD["passages"], {"first": 12, "last": 13, "text": "No."},
             {"first": 9, "last": 2, "text": "No."}, {"first": 1, "last": 2, "text": " … "}]}, (TEA, RAIN),
        ),
        (WHOLE[: WHOLE.index(', "text": "Rain."')], (TEA,)),
        (f"{FORM} {WHOLE[: WHOLE.index(', {')]}", (TEA,)),
        (WHOLE[: WHOLE.index(", ")], ()),
        ('{"summary": "A visit.",\n', ()),
    ],
)  # fmt: skip
def test_of_a_reply_everything_that_can_be_used_is_read(engine, reply, passages):
    asked = engine.summaries.request("ch004.md")
    assert asked.parse(reply if isinstance(reply, str) else json.dumps(reply)) == ("A visit.", passages)


@pytest.mark.parametrize(
    "reply",
    ["I cannot.", FORM, {"summary": ""}, {"summary": None}, {"summary": ["A visit."]}, '{"summary": "A vis', []],
)
def test_a_reply_without_a_summary_is_an_error_that_names_the_chapter(engine, reply):
    with pytest.raises(armarius.ContractError, match=r"ch004.md: expected JSON like"):
        engine.summaries.request("ch004.md").parse(reply if isinstance(reply, str) else json.dumps(reply))


def test_a_bad_reply_refuses_its_chapter_and_the_others_go_on(engine):
    def summed(chapter):
        reply = "I cannot." if chapter.path in ("ch001.md", "ch003.md") else WHOLE
        return "" if chapter.path == "ch005.md" else engine.summaries.request(chapter).parse(reply)

    made = engine.summaries.refresh(summed)
    assert [one.document for one in made] == ["ch002.md", "ch004.md", "ch006.md"]
    assert list(made.refused) == ["ch001.md", "ch003.md", "ch005.md"]
    assert made.refused["ch003.md"].startswith("ch003.md: expected JSON")
    assert made.cost.chapters == 6
    assert engine.summaries.refresh(lambda _: "A visit.").refused == {}


def test_a_model_that_gives_no_summary_is_asked_for_three_chapters(engine):
    asked = []

    def summed(chapter):
        asked.append(chapter.path)
        return engine.summaries.request(chapter).parse("I cannot.")

    with pytest.raises(armarius.ContractError, match=r"ch006.md: expected JSON"):
        engine.summaries.refresh(summed)
    assert asked == ["ch006.md", "ch005.md", "ch004.md"]


def test_what_is_under_way_when_a_model_fails_is_kept(engine):
    failed = threading.Event()

    def summed(chapter):
        if chapter.path == "ch006.md":
            failed.set()
            raise ConnectionError("gone")
        assert failed.wait(60)
        return "A visit."

    with pytest.raises(ConnectionError, match="gone"):
        engine.summaries.refresh(summed, at_once=2)
    assert [one.document for one in engine.summaries.list()][:1] == ["ch005.md"]
    assert len(engine.summaries.list()) < 5


def several(*rows, **more):
    """A reply about several chapters, of letters and summaries."""
    return json.dumps([{"chapter": letter, "summary": text, **more} for letter, text in rows])


@pytest.mark.parametrize(
    ("reply", "texts"),
    [
        (several("AX", "BY", "CZ"), "XYZ"),
        (several("CZ", "AX", "BY"), "XYZ"),
        (f"<think>{several('AY')}</think>```json\n{several('AX', 'BY', 'CZ')}\n```", "XYZ"),
        (f"{several('A…', 'B…')}\n{several('AX', 'BY', 'CZ')}", "XYZ"),
        (f"Draft: {several('AN', 'BN', 'CN')} Better: {several('AX', 'BY', 'CZ')}", "XYZ"),
        (several("AX", "BY", "CZ").replace("[", "").replace("]", "").replace("}, ", "}\n"), "XYZ"),
        (several("AX", "BY", "CZ").replace('"', "'").replace("}]", "},]"), "XYZ"),
        (several(("[a]", "X"), ("b.", "Y"), ("(C)", "Z")), "XYZ"),
        ({"chapters": json.loads(several("AX", "BY", "CZ"))}, "XYZ"),
        ({"A": {"summary": "X"}, "B": {"summary": "Y"}, "C": {"summary": "Z"}}, "XYZ"),
        (several("AX", "BY", "CZ")[:-12], "XY "),
        (several("AX", "BY", "CZ")[:25], "   "),
        (several("AX", "CZ"), "X Z"),
        (several("AX", "BY", "DZ"), "XY "),
        (several("AX", "BY", ("3", "Z")), "XY "),
        (several("AX", "BY", "BZ"), "X  "),
        (several("AX", "BY", "CZ", "DN"), "XYZ"),
        (several("AX", ("B", None), ("C", ["Z"])), "X  "),
        (json.dumps([{"summary": text} for text in "XYZ"]), "   "),
        ({"summary": "X"}, "   "),
        ("I cannot.", "   "),
    ],
)
def test_of_a_reply_about_several_chapters_each_has_its_own_summary_or_its_own_error(engine, reply, texts):
    asked = engine.summaries.request("ch001.md", "ch002.md", "ch003.md")
    read = asked.parse_each(reply if isinstance(reply, str) else json.dumps(reply))
    assert list(read) == ["ch001.md", "ch002.md", "ch003.md"]
    assert "".join(getattr(one, "text", " ") for one in read.values()) == texts
    errors = {path: one for path, one in read.items() if isinstance(one, armarius.ContractError)}
    assert all(one.message.startswith(f"{path}: expected JSON like") for path, one in errors.items())


def test_passages_of_one_of_several_chapters_are_those_of_its_own_paragraphs(engine):
    asked = engine.summaries.request("ch001.md", "ch002.md")
    assert [line for line in asked.text.splitlines() if line[:2] in ("A.", "B.")] == ["A. Chapter 1", "B. Chapter 2"]
    assert asked.text.count("[1] The kettle sang.") == 2
    reply = several("AX", "BY", passages=[GOOD["passages"][0], {"first": 3, "last": 99, "text": "Rain."}])
    assert [one.passages for one in asked.parse_each(reply).values()] == [(TEA, RAIN)] * 2


def test_short_neighbours_are_asked_about_together_and_a_long_chapter_alone(engine, novel):
    (novel / "ch003.md").write_text("# Chapter 3\n\n" + "Rain fell on the slates again. \n\n" * 1200, encoding="utf8")
    asked = list(engine.summaries.requests())
    paths = [[document.path for document in one.documents] for one in asked]
    assert paths == [["ch004.md", "ch005.md", "ch006.md"], ["ch003.md"], ["ch001.md", "ch002.md"]]
    assert max(one.tokens for one in (asked[0], asked[2])) < 6_000 < asked[1].tokens
    for path, one in asked[0].parse_each(several("AX", "CZ")).items():
        if not isinstance(one, armarius.ContractError):
            engine.summaries.set(path, one.text, passages=one.passages)
    paths = [[document.path for document in one.documents] for one in engine.summaries.requests(limit=2)]
    assert paths == [["ch005.md"], ["ch003.md"]]
    with pytest.raises(armarius.ContractError, match="expected 1 to 26, got 0"):
        engine.summaries.request()


SECRETS = """\
api_key = "sk-live-91"
PASSWORD: hunter2
密码：hunter3
Authorization: Bearer ab.cd.ef
https://bob:pw55@host.example/x
AKIAIOSFODNN7EXAMPLE
"""


def test_no_secret_is_sent_to_a_model(engine, novel):
    prose = "The password was swordfish, said the captain. 口令：天王盖地虎。"
    (novel / "ch004.md").write_text(f"# Chapter 4\n\n{SECRETS}\n\n{prose}\n", encoding="utf8")
    (novel / "notes.md").write_text(f"# Notes\n\n{SECRETS}\n\n{prose}\n\n## token = abc99\n\nx\n", encoding="utf8")
    for sent in (engine.summaries.request("ch004.md").text, engine.understanding_request().text):
        assert not [one for one in ("sk-live", "hunter", "ab.cd", "pw55", "AKIA", "abc99") if one in sent]
        assert "api_key = …" in sent
        assert "https://…@host.example/x" in sent
        assert prose in sent


def test_a_chinese_project_is_asked_in_chinese():
    with armarius.open("examples/novel", watch=False) as engine:
        assert "概括" in engine.summaries.request("chapters/ch001.md")[0]["content"]


@pytest.mark.parametrize("with_coroutines", [False, True])
def test_several_chapters_are_summed_up_at_once_and_the_cost_is_known_before(engine, with_coroutines):
    under_way, most, lock = 0, 0, threading.Lock()

    def reply(chapter):
        return engine.summaries.request(chapter).parse(GOOD)

    def enter(step):
        nonlocal under_way, most
        with lock:
            under_way += step
            most = max(most, under_way)

    def function(chapter):
        enter(1)
        time.sleep(0.05)
        enter(-1)
        return reply(chapter)

    async def coroutine(chapter):
        enter(1)
        await asyncio.sleep(0.05)
        enter(-1)
        return reply(chapter)

    before = engine.summaries.cost(limit=4)
    made = engine.summaries.refresh(coroutine if with_coroutines else function, limit=4, at_once=2)
    assert [one.document for one in made] == [f"ch00{n}.md" for n in (3, 4, 5, 6)]
    assert made[0].passages == reply("ch003.md").passages
    assert most == 2
    assert before.chapters == made.cost.chapters == 4
    assert before.asked == made.cost.asked > 4 * 100
    assert before.replied == 0 < made.cost.replied
    assert engine.summaries.cost().chapters == 2


def test_a_coroutine_refreshes_on_its_own_loop(engine):
    async def summed(chapter):
        await asyncio.sleep(0)
        return f"{chapter.title}, {id(asyncio.get_running_loop()) == mine}"

    async def main():
        nonlocal mine
        mine = id(asyncio.get_running_loop())
        return await engine.summaries.arefresh(summed, limit=1)

    mine = 0
    assert asyncio.run(main())[0].text == "Chapter 6, True"


def test_another_error_of_one_chapter_ends_the_others_and_keeps_what_was_written(engine):
    def summed(chapter):
        if chapter.path == "ch003.md":
            raise ValueError("no key")
        return "A visit."

    with pytest.raises(ValueError, match="no key"):
        engine.summaries.refresh(summed)
    assert [one.document for one in engine.summaries.list()] == ["ch006.md", "ch005.md", "ch004.md"]
