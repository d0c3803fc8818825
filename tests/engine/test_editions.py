"""The story has one order and one edition: which chapter comes before, and what is later."""

from armarius.corpus.story import of_edition

PROSE = {
    "en": "The lamp {n} went out over the harbour. Mara {n} counted the boats again, and one was missing.\n\n"
    "She walked down to the quay before dawn. Nobody there had seen the pilot since the storm of night {n}.",
    "ja": "灯台の明かり{n}が港の上で消えた。マーラ{n}はもう一度船を数えた。一隻が足りなかった。\n\n"
    "夜明け前に彼女は桟橋へ降りていった。嵐の夜{n}から水先案内人を見た者はいなかった。",
    "zh": "港口上空的第{n}盏灯灭了。玛拉数船的时候，领航员还在栈桥上，船少了一条，潮水正从{n}号码头退下去。\n\n"
    "天亮以前她走到栈桥上。自第{n}夜的风暴以后，没有人再见过他，也没有人问起。",
}


def text(language, number):
    return PROSE[language].format(n=number)


def chapter(language, number, title=""):
    return f"# {title or f'Chapter {number}'}\n\n{text(language, number)}\n"


def ending(engine, document, query="Continue", **request):
    pack = engine.assemble(query, document=document, budget=6000, **request)
    return [item.source.removeprefix("story:ending:") for item in pack.items if item.source.startswith("story:ending:")]


def sources(pack):
    return {path for item in pack.items for path in item.documents}


TRANSLATED = {
    **{f"chapters/{n:02}.md": chapter("en", n) for n in range(1, 5)},
    **{f"manuscript-ja/{n:02}.md": chapter("ja", n, f"第{n}章") for n in range(1, 4)},
}


def test_the_chapter_before_is_of_the_edition_of_the_open_document(project):
    engine = project(TRANSLATED)
    assert ending(engine, "chapters/02.md") == ["chapters/01.md"]
    assert ending(engine, "manuscript-ja/02.md") == ["manuscript-ja/01.md"]


def test_without_an_open_document_the_main_edition_is_continued(project):
    assert ending(project(TRANSLATED), "") == ["chapters/04.md"]


def test_another_edition_answers_only_when_it_is_asked_for(project):
    engine = project(TRANSLATED)

    def found(query, **request):
        return {path.partition("/")[0] for path in sources(engine.assemble(query, budget=6000, **request))}

    assert found("Who counted the boats of Mara 2?") == {"chapters"}
    assert found("マーラは船を数えた？", document="manuscript-ja/02.md") == {"manuscript-ja"}
    assert "manuscript-ja" in found("manuscript-ja では誰が船を数えた？")
    assert "manuscript-ja" in found("What about マーラ2?", include=["manuscript-ja/02.md"])


def test_a_chapter_that_is_not_saved_yet_continues_its_own_folder(project):
    engine = project(TRANSLATED)
    assert ending(engine, "manuscript-ja/04.md", text="# 第4章\n\n") == ["manuscript-ja/03.md"]
    assert ending(engine, "chapters/05.md", text="# Chapter 5\n\n") == ["chapters/04.md"]


DRAFTS = {
    f"Scenes/{n:02} - {title}.md": f"---\nstatus: draft\n---\n\n# {title}\n\n{text('en', n)}\n"
    for n, title in enumerate(("The Quay", "The Letter", "The Pilot", "The Storm"), 1)
}


def test_a_draft_in_progress_is_a_story(project):
    engine = project(DRAFTS)
    assert ending(engine, "Scenes/03 - The Pilot.md") == ["Scenes/02 - The Letter.md"]


def test_the_prologue_is_the_chapter_before_the_first(project):
    engine = project(
        {"book/prologue.md": f"# Prologue\n\n{text('en', 9)}\n"}
        | {f"book/{n:02}.md": chapter("en", n) for n in range(1, 4)}
    )
    assert ending(engine, "book/01.md") == ["book/prologue.md"]
    assert ending(engine, "book/prologue.md") == []


VOLUMES = {
    f"第{volume}卷/第{number}章.md": chapter("zh", 10 * volume + number, f"第{number}章")
    for volume in (1, 2)
    for number in range(1, 5)
}


def test_a_volume_that_begins_again_at_1_goes_on_from_the_volume_before(project):
    engine = project(VOLUMES)
    assert ending(engine, "第2卷/第1章.md", "续写") == ["第1卷/第4章.md"]
    assert ending(engine, "第2卷/第3章.md", "续写") == ["第2卷/第2章.md"]


def test_where_numbers_begin_again_what_is_later_is_told_by_the_order(project):
    engine = project(VOLUMES)
    asked = engine.assemble("玛拉数船的时候港口的灯灭了几盏？", document="第2卷/第2章.md", budget=8000)
    found = sources(asked)
    assert {"第1卷/第3章.md", "第1卷/第4章.md", "第2卷/第1章.md"} <= found
    assert not found & {"第2卷/第3章.md", "第2卷/第4章.md"}


def test_a_chapter_after_a_gap_continues_the_last_that_there_is(project):
    engine = project({f"正文/第{n:04}章.md": chapter("zh", n, f"第{n}章") for n in (1, 2, 5)})
    assert ending(engine, "正文/第0005章.md", "续写") == ["正文/第0002章.md"]


BOOK = "\n\n".join(f"第{n}章 夜{n}\n\n{text('zh', n)}" for n in range(1, 7))


def test_a_chapter_of_a_whole_book_in_one_file_is_continued_from_the_one_before(project):
    engine = project({"book.txt": BOOK + "\n" + text("zh", 99) * 90})
    inside = BOOK.index("第4章") + 30
    pack = engine.assemble("续写", document="book.txt", cursor=inside, budget=6000)
    assert not [item for item in pack.items if "第5盏" in pack.prompt[slice(*item.span)] and item.layer == "retrieved"]
    end = len(engine.document("book.txt").text)
    assert ending(engine, "book.txt", "续写", cursor=end) == ["book.txt#5"]
    assert engine.retrieve("第3章讲了什么？")[0].chapter == 3


def test_the_edition_of_a_file_that_is_not_saved_is_that_of_its_folder(project):
    project_map = project(TRANSLATED).index.map
    assert of_edition(project_map, "manuscript-ja/09.md") == "manuscript-ja/01.md"
    assert of_edition(project_map, "notes/new.md") is None


def test_summaries_are_made_of_the_main_edition_in_its_order(project):
    engine = project({**TRANSLATED, "chapters/prologue.md": f"# Prologue\n\n{text('en', 9)}\n"})
    made = engine.summaries.refresh(lambda document: f"About {document.path}.")
    assert [one.document for one in made] == ["chapters/prologue.md", *(f"chapters/{n:02}.md" for n in range(1, 5))]


def test_a_check_is_of_the_volume_of_the_open_document(project):
    pack = project(VOLUMES).assemble("检查第2章的一致性", document="第2卷/第2章.md", budget=6000)
    rows = [item for item in pack.items if item.source.startswith("rag:passage:")]
    checked = {item.documents[0] for item in rows if item.evidence[0].detail.startswith("checked")}
    before = {item.documents[0] for item in rows if item.evidence[0].detail.startswith("before")}
    assert checked == set()  # the window shows it
    assert before == {"第2卷/第1章.md", *(f"第1卷/第{n}章.md" for n in range(1, 5))}


def test_the_chapters_beside_one_are_those_of_the_order(project):
    found = [hit.path for hit in project(VOLUMES).retrieve("第1章", limit=10) if hit.evidence[0].kind == "chapter"]
    assert found[:2] == ["第1卷/第1章.md", "第2卷/第1章.md"]
    assert set(found[2:]) == {"第1卷/第2章.md", "第1卷/第4章.md", "第2卷/第2章.md"}


def test_of_what_the_story_may_take_a_third_is_kept_for_the_end_of_the_chapter_before(project):
    outline = "".join(f"## 第{n}章\n\n" + f"玛拉在第{n}号码头等领航员回来。" * 20 + "\n\n" for n in range(1, 7))
    engine = project(
        {
            **{f"正文/第{n:04}章.md": chapter("zh", n, f"第{n}章") for n in range(1, 7)},
            "大纲/第1卷-详细大纲.md": f"# 第1卷\n\n{outline}",
        }
    )
    assert ending(engine, "正文/第0003章.md", "续写") == ["正文/第0002章.md"]


def test_a_long_guide_of_style_leaves_room_for_the_story(project):
    guide = "# Style Guide\n\n" + "".join(
        f"- Rule {n}: keep the sentences short and the weather near.\n" for n in range(400)
    )
    engine = project({**TRANSLATED, "Style Guide.md": guide})
    assert ending(engine, "chapters/02.md") == ["chapters/01.md"]


SESSIONS = {
    f"Sessions/2024-0{n}-1{n}.md": f"# {place}\n\n{text('en', n)}\n"
    for n, place in enumerate(("The Quay", "The Customs House", "The Storm", "The Wreck"), 1)
} | {"armarius.toml": '[documents]\n"Sessions/**" = "chapter"\n'}


def test_where_there_are_no_numbers_what_is_later_is_told_by_the_order(project):
    engine = project(SESSIONS)
    assert ending(engine, "Sessions/2024-03-13.md") == ["Sessions/2024-02-12.md"]
    found = sources(engine.assemble("Who counted the boats?", document="Sessions/2024-02-12.md", budget=6000))
    assert found == {"Sessions/2024-01-11.md", "Sessions/2024-02-12.md"}
