"""What a request asks for by its verb: places of a name, chapters evenly, the scene, a state as of a chapter."""

import json
import re
import shutil
from pathlib import Path
from typing import get_args

import pytest

import armarius
from armarius.lexicon import word_file
from armarius.search.query.recipe import _recipe_of_row, task_of, understand
from armarius.types import TaskName

ROOT = Path(__file__).resolve().parents[2]
NOVEL = ROOT / "examples" / "novel"
ROWS = json.loads((ROOT / "tests" / "cases" / "intents.json").read_text(encoding="utf8"))
LINE = re.compile(r"#(\d+)(?: ×(\d+))? \S")
MAREN = (
    "# Chapter {n}: The Ferry\n\nMaren{n} had the rope off the post.\n\n"
    "{middle}\n\n* * *\n\nOld Maren Tull said that Maren would not come back, and Ann wept.\n\n"
    "The bell of day {n} rang.\n"
)
FILES = {
    **{f"chapters/{n:02}.md": MAREN.format(n=n, middle="Rain fell on Maren's hands. " * 40) for n in range(1, 7)},
    "spec/people.md": "# People\n\n## Maren\n\n- age: 30\n\n## Old Maren Tull\n\n- age: 70\n\n## Ann\n\n- age: 9\n",
    "state.md": "# State\n\n## After chapter 2\n\nMaren has the key.\n\n## After chapter 5\n\nAnn has the key.\n",
}


@pytest.fixture(scope="module")
def novel():
    with armarius.open(NOVEL, watch=False) as engine:
        yield engine


@pytest.fixture(scope="module")
def ferry(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ferry")
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    with armarius.open(folder, watch=False) as engine:
        yield engine


def listed(pack):
    """The places in a prompt, in its order: (path, paragraph, how often)."""
    found, path = [], ""
    for line in pack.prompt.splitlines():
        if line.startswith("## "):
            path = re.split(r"[（(]", line)[-1].rstrip("）)")
        elif place := LINE.match(line):
            found.append((path, int(place[1]), int(place[2] or 1)))
    return found


def searched(engine, name):
    """The same by a plain search of the story, in its order."""
    order = [one for one in engine.map() if one.path.startswith("chapters/")]
    found = []
    for one in sorted(order, key=lambda one: one.order):
        document = engine.document(one.path)
        for paragraph in document.paragraphs:
            many = len(re.findall(name, document.text[paragraph.start : paragraph.end]))
            found += [(one.path, paragraph.index, many)] if many else []
    return found


@pytest.mark.parametrize("intent", ROWS)
def test_a_request_says_by_its_verb_what_it_needs(intent):
    assert {query: understand(query).task for query in ROWS[intent]} == dict.fromkeys(ROWS[intent], intent or "ask")


def test_every_part_of_a_row_is_asked_for_by_the_name_that_it_has_there():
    table = word_file("intents").values()
    parts = {part for row in table if isinstance(row, dict) and "parts" in row for part in row["parts"].split()}
    sources = (path.read_text("utf-8") for path in Path(armarius.__file__).parent.rglob("*.py"))
    asked = r'"(\w+)" (?:not )?in (?:[a-z]+\.)*(?:recipe|spelled|understand\([^)]*\))\.parts\b'
    assert {name for source in sources for name in re.findall(asked, source)} == parts


REFERENCES = {
    "en": ("{} chapter 3", "please {} this scene"),
    "fr": ("{} le chapitre 3",),
    "zh": ("{}第3章", "请{}这一段"),
}
AMBIGUOUS = {"write", "continue", "rename", "brainstorm"}  # by their object: write the next scene, rename a to b


def verbs_of(task):
    """The verbs of a row that ask for it with any object, by language."""
    for verb in word_file("intents")[task]["verbs"].split():
        if verb.isascii() and verb.isalpha():
            yield "en", verb
        elif re.fullmatch("[\u4e00-\u9fff]{2}", verb):
            yield "zh", verb


@pytest.mark.parametrize("task", ["check", "summarise", "translate", "rewrite", "polish"])
def test_a_verb_of_a_row_with_a_reference_asks_for_its_task(task):
    asked = {form.format(verb): verb for language, verb in verbs_of(task) for form in REFERENCES[language]}
    found = {query: understand(query).task for query in asked}
    assert len(found) > 10
    wrong = {query: got for query, got in found.items() if got != task}
    assert len(wrong) <= len(found) // 10, wrong


@pytest.mark.parametrize("query", ["截至第42章记忆还剩几条", "up to chapter 42, how many keys are left"])
def test_a_question_of_a_number_up_to_a_chapter_is_one_as_of_that_chapter(query):
    recipe = understand(query)
    assert (recipe.task, recipe.as_of, "states" in recipe.parts) == ("ask", 42, True)


@pytest.mark.parametrize("query", ["续写第7章", "écris la suite du chapitre 7", "7장 이어서 써줘"])
def test_a_chapter_that_is_continued_is_the_target_like_one_that_is_written(query):
    recipe = understand(query)
    assert (recipe.task, recipe.chapters, "target" in recipe.parts) == ("continue", (7,), True)


@pytest.mark.parametrize("query", ["fix make_response", "Please rewrite make_response", "改写 make_response"])
def test_what_is_to_be_done_to_code_is_not_looked_up(query):
    assert understand(query).query == "make_response"


def test_questions_are_seldom_taken_for_tasks():
    lines = (ROOT / "benches" / "data" / "intents.jsonl").read_text("utf-8").splitlines()
    questions = [row["text"] for row in map(json.loads, lines) if row["task"] is None]
    wrong = [one for one in questions if understand(one).task != "ask"]
    assert len(questions) == 500
    assert len(wrong) <= 10, wrong


@pytest.mark.parametrize(
    ("query", "task"),
    [
        ("Draft the opening of chapter 7", "write"),
        ("Draft horses on the northern farms", "ask"),
        ("check who sent the letter", "ask"),
        ("Check the letter in this scene", "check"),
        ("向南走换了马", "ask"),
        ("这段对话换个语气", "rewrite"),
        ("I want to rewrite chapter 5; who mentions the amulet there?", "ask"),
        ("the continuation of the war under the old king", "ask"),
        ("une suite de cette scène, stp", "continue"),
        ("翻訳者の名前", "ask"),
        ("この台詞の翻訳をお願いします", "translate"),
        ("편집장이 원고를 고치라고 했어?", "ask"),
        ("이 원고 좀 고쳐줘", "rewrite"),
    ],
)
def test_a_verb_is_a_task_where_it_has_an_object_or_is_wished_for(query, task):
    assert understand(query).task == task


@pytest.mark.parametrize(
    ("query", "task"),
    [
        ("Give the letter a light edit", "polish"),
        ("give me a one-paragraph summary of the siege", "summarise"),
        ("make this sound more natural", "polish"),
        ("change the name of the inn to The Raven", "rename"),
        ("put the dialogue into Japanese", "translate"),
        ("写一份第二卷的梗概", "summarise"),
        ("把这段改得更流畅", "polish"),
        ("プロットの案をください", "brainstorm"),
        ("이 대사를 일본어로 바꿔줘", "translate"),
        ("donne-moi un résumé", "summarise"),
    ],
)
def test_a_verb_that_says_little_leaves_the_task_to_what_is_wanted(query, task):
    assert understand(query).task == task


def test_a_word_of_a_command_that_is_part_of_a_name_of_code_is_looked_up():
    assert "delete_where" in understand("Write a unit test for delete_where in the tables module").query
    assert understand("what does rewrite_url do").task == "ask"


def test_no_pattern_of_the_table_is_longer_than_80_characters():
    table = word_file("intents")
    rename = [table["rename"][name] for name in ("patterns", "proper", "tail", "to", "text", "all")]
    held = [*table["patterns"].values(), *table["parts"].values(), *rename, table["length"], table["number"]]
    patterns = [one for value in held for one in ([value] if isinstance(value, str) else value)]
    assert len(patterns) > 50
    assert [one for one in patterns if len(one) > 80] == []


def test_a_task_that_names_no_place_holds_what_a_question_holds():
    assert _recipe_of_row("ask").parts <= understand("Summarise Pip's relationship with Joe").parts
    assert understand("Summarise chapter 3").parts == _recipe_of_row("summarise").parts


@pytest.mark.parametrize("query", ["Summarise chapters 2 and 3, what the rope means", "检查第3章丧事的排场写得合理吗"])
def test_what_a_task_that_reads_says_besides_is_looked_up_in_its_chapters(query):
    recipe = understand(query)
    assert recipe.chapters in ((2, 3), (3,))
    assert (recipe.parts, recipe.shares) == (_recipe_of_row("ask").parts, {})


@pytest.mark.parametrize("query", ["写到放风筝的场面", "往后就大摇大摆地运货", "选项的值可以来自哪些地方"])
def test_a_sentence_about_something_is_no_task(query):
    assert understand(query).task == "ask"


@pytest.mark.parametrize(
    ("query", "task"),
    [
        ("keep it rolling", "continue"),
        ("make chapter 4 half its size", "rewrite"),
    ],
)
def test_a_sentence_that_no_rule_knows_is_weighed_by_its_words(query, task):
    assert understand(query).task == task


PASTED = (
    "The lamp had been out for an hour. “Write it down,” said the pilot, “and read it back when you are done.”\n\n"
    "Nobody wrote anything. The tide went on translating the stones from one end of the bay to the other.\n"
)


@pytest.mark.parametrize(
    ("query", "task"),
    [
        (f"Translate this into French:\n\n{PASTED}", "translate"),
        (f"{PASTED}\n把这段润色一下", "polish"),
        (f"{12 * PASTED}\nsummarise the above", "summarise"),
        (f"Who says this?\n\n{PASTED}", "ask"),
        (PASTED, "ask"),
    ],
)
def test_a_request_beside_a_pasted_text_is_its_first_or_last_line(query, task):
    assert understand(query).task == task


def test_a_text_that_nobody_asks_with_is_no_task():
    assert understand("", text="keep going with the scene, please continue").task == "ask"


@pytest.mark.parametrize(("typed", "task"), [("summarse chapter 2", "summarise"), ("tranlsate chapter 2", "translate")])
def test_a_verb_of_six_letters_may_have_one_wrong(typed, task):
    assert understand(typed).task == task


@pytest.mark.parametrize("query", ["rewrite chapter 3", "polish chapter 3"])
def test_a_chapter_to_be_rewritten_is_whole_between_its_neighbours(ferry, query):
    pack = ferry.assemble(query, budget=8000)
    sources = {one.source for one in pack.items}
    assert {"story:ending:chapters/02.md", "story:beginning:chapters/04.md"} <= sources
    beside = {one.reason for one in pack.items if one.source.startswith(("story:ending", "story:beginning"))}
    assert beside == {"beside chapter 3"}
    assert all(line.strip() in pack.prompt for line in FILES["chapters/03.md"].split("\n\n")[1:] if line.strip("* \n"))


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("请把全书的“林默”替换成“林渊”，谢谢", ("林默", "林渊")),
        ("將全文中的林默統一改為林淵", ("林默", "林淵")),
        ("Rename the character Mrs. Joe to Mrs. Gargery in every chapter", ("Mrs. Joe", "Mrs. Gargery")),
        ("Could you change Pip's name to Philip Pirrip, please?", ("Pip", "Philip Pirrip")),
    ],
)
def test_a_request_to_rename_is_read_with_both_names(query, names):
    assert understand(query).names == names


@pytest.mark.parametrize(("query", "as_of"), [("截至第十章，林默有什么", 10), ("state of Pip after chapter 12", 12)])
def test_a_state_is_asked_for_as_of_a_chapter(query, as_of):
    assert understand(query).as_of == as_of


def test_a_rename_lists_what_a_plain_search_of_the_story_finds(novel):
    found = searched(novel, "林默")
    pack = novel.assemble("把林默改名为林渊", budget=16000)
    assert listed(pack) == found
    files = len({path for path, _, _ in found})
    assert f"共 {sum(many for *_, many in found)} 处，{len(found)} 段，{files} 个文件" in pack.prompt
    assert "林默" in (NOVEL / found[0][0]).read_text(encoding="utf8")  # no file is changed


@pytest.mark.parametrize("query", ["改名 林默 为 林渊 第3章", "把第3章的林默改名为林渊", "林默改名林渊，第3章"])
def test_a_rename_within_a_chapter_lists_the_places_of_that_chapter(novel, query):
    pack = novel.assemble(query, budget=16000)
    assert listed(pack) == [one for one in searched(novel, "林默") if one[0] == "chapters/ch003.md"]


def test_a_rename_counts_the_places_of_the_aliases_apart(novel):
    assert "别的名字，未计入：小雨 ×17" in novel.assemble("改名 林小雨 为 林晚", budget=4000).prompt


@pytest.mark.parametrize(
    ("query", "length"),
    [("写第8章", "，用800字"), ("续写", "300字"), ("续写", "，两千字左右"), ("write chapter 8", ", 2000 words")],
)
def test_a_length_is_no_word_to_look_up(novel, query, length):
    brief, long = novel.assemble(query, budget=6000), novel.assemble(query + length, budget=6000)
    assert [one.source for one in brief.items] == [one.source for one in long.items]


@pytest.mark.parametrize("budget", [700, 900, 1200, 2000])
def test_places_beyond_the_budget_are_left_off_from_the_end_and_counted(ferry, budget):
    every = searched(ferry, r"(?<!Old )\bMaren\b")
    pack = ferry.assemble("Rename Maren to Mara", budget=budget)
    places = listed(pack)
    assert places == every[: len(places)]
    assert f"{sum(many for *_, many in every)} places, paragraphs: {len(every)}, files: 6" in pack.prompt
    left = [one.detail for one in pack.omitted if one.source.startswith("story:place:")]
    gone = [re.search(r"paragraphs: (\d+):", detail) for detail in left]
    assert sum(int(one[1]) for one in gone if one) == len(every) - len(places)


def test_a_name_inside_a_longer_one_is_no_place_and_is_said(ferry):
    pack = ferry.assemble("Rename Maren to Mara", budget=8000)
    assert "inside longer names, not counted: Old Maren Tull ×6" in pack.prompt
    assert "outside the story: " in pack.prompt
    assert "spec/people.md ×1" in pack.prompt


def test_a_rename_holds_no_paragraphs_that_only_name_somebody(ferry):
    pack = ferry.assemble("Rename Maren to Mara in chapter 2", budget=8000)
    assert {path for path, *_ in listed(pack)} == {"chapters/02.md"}
    assert not [one for one in pack.items if one.source.startswith("rag:")]
    assert re.fullmatch(r"places of Maren: \d+", pack.why("story:count:Maren").reason)


@pytest.mark.parametrize("query", ["第99章写什么", "第99章发生了什么", "第99章有谁", "总结第99章"])
def test_a_question_about_a_chapter_that_there_is_not_has_no_confidence(novel, query):
    found = novel.retrieve(query)
    assert (found.confidence, novel.assemble(query, budget=4000).confidence) == (0.0, 0.0)
    assert found.outcome in ("weak", "nothing found")


def test_the_same_request_in_other_words_has_the_same_confidence(novel):
    asked = ("第3章有谁", "第三章谁在场")
    assert len({one.confidence for q in asked for one in (novel.retrieve(q), novel.assemble(q, budget=4000))}) == 1


@pytest.mark.parametrize("query", ["第三章的大纲", "第3章的大纲是什么", "Outline of chapter 3"])
def test_a_question_about_a_plan_gets_the_plan_alone(novel, query):
    sources = [one.source for one in novel.assemble(query, budget=6000).items]
    assert "story:outline:spec/outline.md#3" in sources
    assert not [one for one in sources if one.startswith(("rag:", "codex:detected", "kg:related"))]


def test_who_is_here_without_a_document_is_a_warning(novel):
    (said,) = novel.assemble("这一段谁在场", budget=4000).warnings
    assert said == "CHAPTER_UNKNOWN: 这一段谁在场: the current scene is not known"


def test_a_reason_does_not_say_that_a_question_describes_whom_it_shares_a_word_with(novel):
    said = str([one.reason for one in novel.assemble("火星上的企鹅", budget=6000).items])
    assert "铜怀表的档案与问题有相同的词" in said
    assert "问题所说的" not in said


def test_the_advice_for_a_thread_that_is_not_shown_is_a_name_that_include_accepts(tmp_path):
    folder = tmp_path / "novel"
    shutil.copytree(NOVEL, folder)
    codex = json.loads((folder / "codex.json").read_text(encoding="utf8"))
    next(one for one in codex["entities"] if one["name"] == "灯塔重燃")["level"] = "manual_only"
    (folder / "codex.json").write_text(json.dumps(codex), encoding="utf8")
    with armarius.open(folder, watch=False) as engine:
        advice = engine.assemble("续写", budget=4000).why("灯塔重燃").change
        assert 'include=["灯塔重燃"]' in advice
        assert "灯塔重燃" in engine.assemble("续写", budget=4000, include=["灯塔重燃"]).prompt


@pytest.mark.parametrize("budget", [1200, 2000, 4000])
def test_chapters_that_do_not_fit_are_summarised_evenly(ferry, budget):
    pack = ferry.assemble("Summarise chapters 2 to 5", budget=budget)
    rows = {one.source.removeprefix("rag:passage:").partition("#")[0] for one in pack.items}
    assert {one for one in rows if one.startswith("chapters")} == {f"chapters/{n:02}.md" for n in range(2, 6)}
    assert all(f"Maren{n} had the rope" in pack.prompt for n in range(2, 6))
    assert all(f"The bell of day {n} rang." in pack.prompt for n in range(2, 6))


def test_a_chapter_to_be_translated_is_whole_with_the_cards_of_its_people(ferry):
    pack = ferry.assemble("Translate chapter 3 into French", budget=4000)
    text = FILES["chapters/03.md"]
    assert all(line.strip() in pack.prompt for line in text.split("\n\n")[1:] if line.strip("* \n"))
    assert {"entity:maren", "entity:ann"} <= {one.id for one in pack.items}
    assert all("chapters/03" in one.source for one in pack.items if one.source.startswith("rag:"))


def test_a_chapter_to_be_summarised_that_does_not_exist_is_told(ferry):
    (said,) = ferry.assemble("Summarise chapter 9", budget=4000).warnings
    assert said == "CHAPTER_UNKNOWN: chapter 9: no chapter 9; the chapters are 1 to 6"


def test_who_is_here_holds_the_scene_and_the_cards_of_its_people(ferry):
    text = FILES["chapters/03.md"]
    pack = ferry.assemble("Who is in this scene?", document="chapters/03.md", cursor=len(text) - 2, budget=4000)
    named = {one.id for one in pack.items if one.id.startswith("entity:")}
    assert {"entity:old-maren-tull", "entity:maren", "entity:ann"} == named
    assert "The bell of day 3 rang" in pack.prompt
    assert all("chapters/03" in one.source for one in pack.items if one.source.startswith("rag:"))
    assert ferry.assemble("Who is in this scene?", budget=4000).token_count  # nothing is open: a question


def test_a_state_as_of_a_chapter_holds_the_state_file_and_nothing_later(ferry):
    pack = ferry.assemble("State of the key after chapter 3", budget=4000)
    assert "Maren has the key." in pack.prompt
    assert "Ann has the key." not in pack.prompt
    assert not [one for one in pack.items if "chapters/04" in one.source]
    assert pack.why("story:state:state.md").reason == "the state as of chapter 3"
    assert "Ann has the key." in ferry.assemble("State of the key after chapter 5", budget=4000).prompt
    latest = ferry.assemble("State of the key after chapter 6", budget=4000).prompt
    assert latest.index("Ann has the key.") < latest.index("Maren has the key.")


@pytest.mark.parametrize(
    "query",
    ["Where is Maren now?", "Where did we leave off with Maren?", "Maren 现在怎么样", "Où est Maren maintenant ?"],
)
def test_now_is_the_end_of_the_story_that_is_written_and_where_somebody_was_last_seen(ferry, query):
    sources = {one.source for one in ferry.assemble(query, budget=4000).items}
    assert {"story:ending:chapters/06.md", "story:cast:now", "story:state:state.md"} <= sources


def test_where_somebody_was_last_seen_comes_before_a_long_state_file(tmp_path):
    long = "\n\n".join(f"The {n}th barrel of salt fish stands in the store of the mill." for n in range(200))
    for path, text in {**FILES, "state.md": f"# State\n\n## Stores\n\n{long}\n"}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    with armarius.open(tmp_path) as engine:
        pack = engine.assemble("Where is Ann now?", budget=3000)
    sources = [item.source for item in pack.items]
    assert {"story:cast:now", "story:state:state.md"} <= {*sources}


@pytest.mark.parametrize("asked", [{"document": "chapters/03.md"}, {"query": "Where is Maren in chapter 2?"}])
def test_now_is_the_open_document_and_no_chapter_that_is_named(ferry, asked):
    sources = {one.source for one in ferry.assemble(**{"query": "Where is Maren now?", **asked}, budget=4000).items}
    assert not [one for one in sources if one.startswith("story:ending")]


@pytest.mark.parametrize("query", ["Where did we leave off?", "上次写到哪里了", "どこまで書いた？"])
@pytest.mark.parametrize(
    ("opened", "ending"),
    [
        ({"document": "chapters/03.md"}, None),
        ({"document": "chapters/03.md", "cursor": 0}, "story:ending:chapters/03.md"),
        ({"document": "chapters/07.md", "cursor": 0, "text": "# Chapter 7\n\n"}, "story:ending:chapters/06.md"),
        ({"document": "spec/people.md", "cursor": 0}, "story:ending:chapters/06.md"),
    ],
    ids=["its end is in the window", "its end is far from the cursor", "it is empty", "it is no story"],
)
def test_where_we_left_off_is_the_end_of_the_story_in_the_open_document(ferry, query, opened, ending):
    pack = ferry.assemble(query, **opened, budget=4000)
    assert [one.source for one in pack.items if "ending" in one.source] == [ending] * (ending is not None)
    assert f"The bell of day {6 if ending and '06' in ending else 3} rang." in pack.prompt


@pytest.mark.parametrize(
    ("query", "task"),
    [
        ("Could you put this scene into Korean?", "translate"),
        ("把这一段改得更自然一点", "polish"),
        ("change the title of this chapter to The Weir", "rename"),
        ("alternatives to the duel in this chapter?", "brainstorm"),
        ("庶出的小姐代掌家务，搞承包改革", "ask"),
        ("who does the miller still fear?", "ask"),
    ],
)
def test_a_command_is_found_at_any_place_of_a_sentence_that_wants_something(query, task):
    assert understand(query).task == task


@pytest.mark.parametrize(
    "query", ["What happens next?", "what comes next", "この後どうなる？", "그 다음은?", "接下来会怎样"]
)
def test_what_comes_next_is_asked_of_the_end_of_the_story(ferry, query):
    assert "story:ending:chapters/06.md" in [item.source for item in ferry.assemble(query, budget=4000).items]


@pytest.mark.parametrize("asked", [{"story": True}, {"query": "colder", "story": True}, {"skill": "continue"}])
def test_a_host_says_that_the_story_goes_on_without_words(ferry, asked):
    assert "story:ending:chapters/06.md" in [one.source for one in ferry.assemble(**asked, budget=4000).items]
    asked["query"] = "Summarise chapter 2"  # what the host names is done; of a story that goes on the words say more
    told = [one for one in ferry.assemble(**asked, budget=4000).items if one.source.startswith("story:ending")]
    assert bool(told) == ("skill" in asked)


@pytest.mark.parametrize("task", get_args(TaskName))
def test_a_skill_is_the_task_whatever_the_words_are(task):
    recipe = understand("写第5章，林默要更冷一点", skill=task)
    assert (recipe.task, recipe.chapters, recipe.stated) == (task, (5,), True)


@pytest.mark.parametrize(
    ("skill", "task"),
    [
        ("续写", "continue"),
        ("novel:改写", "rewrite"),
        ("AI_Summarize", "summarise"),
        ("提问", "ask"),
        ("my-button", None),
        ("", None),
        ("writer", None),
    ],
)
def test_a_skill_has_a_name_in_other_languages_and_any_other_name_says_nothing(skill, task):
    assert task_of(skill) == task
    assert understand("检查第3章", skill=skill).task == (task or "check")


def test_a_summary_that_the_host_states_reads_the_chapters_though_the_words_name_somebody(ferry):
    pack = ferry.assemble("What did Maren do in chapters 2 to 5?", skill="summarise", budget=2000)
    assert all(f"The bell of day {n} rang." in pack.prompt for n in range(2, 6))


def test_a_name_of_the_host_is_a_task_in_its_project_and_the_account_says_of_another_that_it_is_none(tmp_path):
    (tmp_path / "01.md").write_text(FILES["chapters/01.md"], encoding="utf-8")
    (tmp_path / "armarius.toml").write_text('[skills]\n"my-button" = "continue"\n', encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        assert "story:ending:01.md" in [one.source for one in engine.assemble("colder", skill="my-button").items]
        (other,) = [one for one in engine.assemble("colder", skill="chat").items if one.id == "request:query"]
        assert "“chat” names no task" in other.reason
        assert not engine.assemble("colder", skill="chat").warnings
    (tmp_path / "armarius.toml").write_text('[skills]\n"my-button" = "fly"\n', encoding="utf-8")
    with pytest.raises(armarius.ConfigError, match=r"skills\.my-button must be one of ask, write"):
        armarius.open(tmp_path, watch=False)


@pytest.mark.parametrize(
    ("query", "task"),
    [
        ("im stuck, what could go wrong on the boat", "brainstorm"),
        ("keep goin", "continue"),
        ("more", "continue"),
        ("list the characters in chapter 2", "present"),
        ("personnages du chapitre 3", "present"),
        ("où en sont les personnages ?", "state"),
        ("剧情推到哪儿了", "state"),
        ("扩到一千字", "rewrite"),
        ("太啰嗦了", "polish"),
    ],
)
def test_a_short_sentence_without_apostrophe_or_reference_is_the_task_it_says(query, task):
    assert understand(query).task == task


@pytest.mark.parametrize(
    "words",
    ["hello", "Thanks!", "Ok, thank you.", "你好", "好的，谢谢", "多謝", "Bonjour !", "ありがとう", "안녕하세요"],
)
def test_a_greeting_alone_searches_nothing_and_with_anything_else_searches(words):
    assert understand(words).parts == frozenset()
    assert "plain" in understand(f"{words} 铜钥匙 lantern").parts


def test_a_greeting_that_names_somebody_or_goes_on_is_searched(tmp_path):
    (tmp_path / "people.md").write_text("# Characters\n\n## Salut\n\nA ferryman in a red coat.\n", encoding="utf-8")
    (tmp_path / "ch01.md").write_text("# Chapter 1\n\nSalut rowed. Hello, cried the ferry.\n", encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        assert "ch01.md" in engine.assemble("Salut!", budget=2000).documents
        assert not engine.assemble("Hello!", budget=2000).documents
        opened = engine.assemble("Hello!", document="people.md", budget=2000)
        assert opened.documents == ("people.md",)
        assert "editor:cursor-window" in [item.source for item in opened.items]
    assert understand("hello " * 80 + "who rowed?").parts
