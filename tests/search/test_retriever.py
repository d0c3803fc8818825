import random
import re

import pytest

import armarius
from armarius.codex import build_codex
from armarius.documents.document import make_document
from armarius.search.corpus import Corpus
from armarius.search.models import VectorGuard
from armarius.search.retrieve import Sources, retrieve
from armarius.search.scope import ProjectCorpus
from armarius.types import Near, VectorHits

from .conftest import SMALL, Asked, corpus_of, write


def references(answer):
    return [hit.reference for hit in answer]


def test_a_chapter_check_brings_the_chapter_its_people_and_the_chapters_before(novel):
    found = references(novel.retrieve("检查第3章的角色一致性", limit=8))
    assert found[0] == "chapters/ch003.md"
    assert found.index("chapters/ch002.md") < found.index("chapters/ch001.md")
    assert {"spec/characters.md#林小雨", "spec/characters.md#林默"} <= set(found[:3])


@pytest.mark.parametrize("query", ["Check chapter 4 for consistency", "第4章有没有矛盾"])
def test_a_check_looks_further_back_than_a_mere_question(small, query):
    before = [path for path in references(small.retrieve(query, limit=20)) if path < "chapters/ch004"]
    assert before == ["chapters/ch003.md", "chapters/ch002.md", "chapters/ch001.md"]
    asked = references(small.retrieve("What is in chapter 4?", limit=20))
    assert "chapters/ch003.md" in asked
    assert "chapters/ch001.md" not in asked


def test_a_relation_word_brings_whom_it_means_first(novel):
    assert references(novel.retrieve("林小雨的父亲是谁"))[0] == "spec/characters.md#林渡"


@pytest.mark.parametrize("query", ["谁从档案馆裁走了第十八页", "谁在档案馆裁了一页"])
def test_who_did_something_in_a_place_is_told_where_it_happens(novel, query):
    assert references(novel.retrieve(query))[0].startswith("chapters/")


@pytest.mark.parametrize("query", ["江城档案馆是什么样的地方", "谁是档案馆的馆员", "档案馆的主人是谁"])
def test_a_question_about_a_place_itself_brings_its_description_beside_the_best_text(novel, query):
    assert any(reference.startswith("spec/") for reference in references(novel.retrieve(query))[:2])


def test_a_question_where_brings_the_place_that_fits(tmp_path):
    places = (
        "# Places\n\n## Gallow Ford\n\nWhere carts cross when the river is low.\n\n## Mill End\n\nA row of sheds.\n"
    )
    found = references(corpus_of(write(tmp_path, SMALL | {"spec/places.md": places})).retrieve("where do carts cross"))
    assert "spec/places.md#Gallow Ford" in found
    assert "spec/places.md#Mill End" not in found


def test_relations_are_read_from_profiles_in_english(small):
    assert "spec/characters.md#Clara" in references(small.retrieve("Who is Tom's wife?", limit=2))
    assert "spec/characters.md#Anna Vale" in references(small.retrieve("Who is the sister of Tom?", limit=2))


def test_an_event_told_in_other_words_is_found_by_its_meaning(small):
    assert references(small.retrieve("the shop is set on fire"))[0] == "chapters/ch003.md"


def test_every_hit_says_why(novel):
    for query in ("林默修表", "谁裁掉了卷宗的第十八页", "检查第3章", "林小雨的父亲"):
        for hit in novel.retrieve(query):
            assert hit.evidence, (query, hit)
            for evidence in hit.evidence:
                assert evidence.kind in {"mention", "chapter", "relation", "fulltext", "phrase", "outline"}


@pytest.mark.parametrize(
    "query",
    ["谁喜欢听雨", "灯", "「雨夜」", "谁把钥匙交给了守灯的人", "who fixes watches", "林默前后一致吗，钥匙呢"],
)
def test_no_reason_is_blank(novel, query):
    answer = novel.retrieve(query, limit=20)
    for hit in answer:
        for evidence in hit.evidence:
            said = re.sub(r"\(rank \d+\)", "", evidence.detail).removeprefix(
                "the profile shares words with the question:"
            )
            assert said.strip(), (query, hit)
            assert evidence.kind != "outline" or ": " in said, (query, evidence)


def test_whom_the_words_describe_is_named_as_the_reason(tmp_path):
    files = SMALL | {
        "spec/characters.md": SMALL["spec/characters.md"].replace("A chandler.", "A dredger of the channel."),
        "chapters/ch002.md": "# Chapter Two\n\nTom Reed came home.\n",
    }
    hit = corpus_of(write(tmp_path, files)).retrieve("dredger")[0]
    assert hit.path == "chapters/ch002.md"
    assert "Tom Reed (Tom Reed, whose profile shares words with the question)" in hit.evidence[0].detail


def test_spans_of_evidence_stand_in_the_document(novel):
    for hit in novel.retrieve("顾长河捞起怀表"):
        for evidence in hit.evidence:
            if evidence.span is not None:
                document = novel.opened.document(evidence.path)
                assert document.text[evidence.span[0] : evidence.span[1]].strip()


def test_a_quoted_phrase_is_found_where_it_stands(small):
    answer = small.retrieve('"found the ledger"')
    assert answer[0].path == "chapters/ch003.md"
    phrase = next(evidence for evidence in answer[0].evidence if evidence.kind == "phrase")
    assert SMALL["chapters/ch003.md"][slice(*phrase.span)] == "found the ledger"


def test_of_quoted_phrases_the_last_64_are_remembered(small, monkeypatch):
    from armarius.search import explain as phrases

    looked: list[str] = []
    places = phrases._places
    monkeypatch.setattr(phrases, "_places", lambda tables, phrase: looked.append(phrase) or places(tables, phrase))
    asked = ["found the ledger", *(f"word {n}" for n in range(100)), "found the ledger"]
    for phrase in asked:
        absent = small.retrieve(f'"{phrase}"').understanding.remarks
        assert bool(absent) == (phrase != asked[0])
    assert looked == asked  # each is looked up once, and the first again: it was forgotten
    small.retrieve(f'"{asked[-2]}"')
    assert looked == asked
    assert len(small.opened.memo[phrases._PHRASES]) == 64


@pytest.mark.parametrize("phrase", ["had paid the", "Who Had", "who had"])
def test_a_phrase_of_common_words_is_looked_up_as_it_stands(small, phrase):
    answer = small.retrieve(f'"{phrase}"')
    assert answer[0].path == "chapters/ch004.md"
    assert any(evidence.kind == "phrase" for evidence in answer[0].evidence)
    assert answer.understanding.remarks == ()


def test_a_phrase_may_be_broken_over_two_lines(tmp_path):
    broken = {"chapters/ch005.md": "# Chapter Five\n\nIt\nwas not the sea.\n"}
    assert references(corpus_of(write(tmp_path, SMALL | broken)).retrieve('"It was not"'))[0] == "chapters/ch005.md"


def test_a_phrase_that_occurs_nowhere_is_said_not_to(small):
    answer = small.retrieve('who says "the ledger was never found"')
    assert answer.understanding.remarks == ("“the ledger was never found” occurs in no document",)
    assert small.retrieve('"married to Clara"').understanding.remarks == ()  # in a profile


def test_a_phrase_in_a_file_that_is_no_document_is_scanned(tmp_path):
    root = write(tmp_path, SMALL | {"data.lock": "x,the grey seal\n"})
    answer = corpus_of(root).retrieve('"the grey seal"', limit=9)
    assert [(hit.path, hit.evidence[0].kind) for hit in answer if hit.path == "data.lock"] == [("data.lock", "scan")]


def test_later_chapters_are_withheld_and_listed(small):
    answer = small.retrieve("the fire in the chandlery", chapter=2)
    assert "chapters/ch003.md" not in references(answer)
    assert [(omission.source, omission.reason) for omission in answer.omitted][:1] == [
        ("chapters/ch003.md", "timeline")
    ]


FUNCTION_WORDS = [
    "what is it",
    "Don't!",
    "he'd, and they wouldn't",
    "的呢吗",
    "这是什么",
    "为什么",
    "他们怎么样了",
    "你说呢",
    "好的",
]


@pytest.mark.parametrize("query", FUNCTION_WORDS)
def test_a_question_of_function_words_finds_nothing(tmp_path, query):
    said = "\n\n".join(f"他们说，为什么这是好的？你说呢，第{n}个人说那是什么，他们怎么样了。" for n in range(30))
    spoken = "“What is it?” he said. “Don't ask,” she said, “they wouldn't tell, and he'd know.”"
    files = {"chapters/ch005.md": f"# 第五章\n\n{said}\n\n他死了。\n", "chapters/ch006.md": f"# Six\n\n{spoken}\n"}
    asked = corpus_of(write(tmp_path, SMALL | files))
    answer = asked.retrieve(query)
    assert (answer.outcome, list(answer)) == ("nothing found", [])
    assert asked.retrieve("谁死了")[0].path == "chapters/ch005.md"  # one word that is none is a question


def test_a_later_chapter_that_the_question_names_is_not_withheld(small):
    assert references(small.retrieve("what burns in chapter 3", chapter=2))[0] == "chapters/ch003.md"


def test_naming_a_later_chapter_lifts_the_timeline_for_that_one_alone(small):
    found = small.find("who found the ledger, and what burns in chapter 3", chapter=1, limit=9)
    paths = [hit.path for hit in found.answer]
    assert paths[0] == "chapters/ch003.md"
    assert not {"chapters/ch002.md", "chapters/ch004.md"} & set(paths)
    assert ("chapters/ch004.md", "timeline") in [(gone.source, gone.reason) for gone in found.answer.omitted]
    assert "chapters/ch003.md" not in [gone.source for gone in found.answer.omitted]
    scores = found.ranked.scores
    assert scores.score_of("chapters/ch004.md", 1) is None
    assert scores.score_of("chapters/ch003.md", 1) == scores.best


@pytest.mark.parametrize("query", ["chapter 99", "第99章"])
def test_a_chapter_that_does_not_exist_has_no_neighbours_and_is_said_not_to_exist(small, query):
    answer = small.retrieve(query)
    assert answer.outcome == "nothing found"
    assert answer.understanding.remarks == (f"{query}: no chapter 99; the chapters are 1 to 4",)


def test_an_excluded_chapter_is_not_found(small):
    assert "chapters/ch003.md" in references(small.retrieve("who found the ledger"))
    answer = small.retrieve("who found the ledger, except in chapter 3")
    assert "chapters/ch003.md" not in references(answer)
    assert "chapters/ch004.md" in references(answer)
    assert answer.understanding.excluded == (3,)


def test_an_excluded_chapter_is_not_there_for_the_ranking_either(small):
    asked = "Clara and the ledger in the ash"
    whole, without = (small.find(query).ranked.scores for query in (asked, f"{asked}, except in chapter 3"))
    assert whole.score_of("chapters/ch003.md", 1) == whole.best
    assert [without.score_of("chapters/ch003.md", at) for at in (0, 1)] == [None, None]
    assert without.best == without.score_of("chapters/ch004.md", 1) > whole.score_of("chapters/ch004.md", 1)


@pytest.mark.parametrize(("folder", "chapters"), [("chapters", ()), ("第七卷", (7,))])
def test_a_volume_is_a_thing_where_the_story_has_one_and_the_book_has_none(tmp_path, folder, chapters):
    files = {
        f"{folder}/第{n}章.md": f"# 第{n}章\n\n{text}\n" for n, text in enumerate(("雪落了。", "账册只少第七卷。"), 1)
    }
    found = corpus_of(write(tmp_path, files)).retrieve("第七卷在哪里")
    assert found.understanding.chapters == chapters
    if not chapters:
        assert references(found)[0] == "chapters/第2章.md"


def test_without_a_current_chapter_the_previous_one_is_not_searched_for_as_words(novel):
    answer = novel.retrieve("上一章")
    assert (answer.outcome, answer.understanding.terms) == ("nothing found", ())
    assert answer.understanding.remarks == ("上一章: the current chapter is not known",)
    assert novel.retrieve("上一章", chapter=3)[0].path == novel.opened.texts[novel.opened.by_chapter[2][0]].path


def test_nothing_found_not_ready_and_failed_are_three_answers(small):
    assert retrieve(ProjectCorpus({}, build_codex([]), ready=False), "anything").outcome == "index not ready"
    assert small.retrieve("zyzzyva quux").outcome == "nothing found"

    def broken(query):
        raise OSError("no model")

    answer = retrieve(ProjectCorpus({}, build_codex([])), "zyzzyva quux", sources=Sources(vectors=VectorGuard(broken)))
    assert answer.outcome == "source failed"
    assert [str(warning) for warning in answer.warnings] == ["EMBEDDING_UNAVAILABLE: no model"]


def test_a_character_alone_is_no_answer(novel):
    assert novel.retrieve("齉龘青").outcome == "nothing found"


def test_a_name_that_holds_a_function_word_and_has_no_profile_is_found(tmp_path):
    files = {f"chapters/第{n}章.md": f"# 第{n}章\n\n继之在书房里坐着，{n}点才走。\n" for n in range(1, 9)}
    assert len(corpus_of(write(tmp_path, files)).retrieve("继之", limit=8)) == 8


def test_vectors_add_what_no_word_shares(tmp_path):
    root = write(tmp_path, SMALL)
    plain = corpus_of(root)
    near = Asked(
        plain.corpus, Sources(vectors=VectorGuard(lambda query: VectorHits((Near("chapters/ch004.md", 1, 0.61),))))
    )
    assert plain.retrieve("unspeakable zyzzyva").outcome == "nothing found"
    answer = near.retrieve("unspeakable zyzzyva")
    assert answer[0].path == "chapters/ch004.md"
    (evidence,) = answer[0].evidence
    assert (evidence.kind, evidence.span) == ("vector", (28, 87))
    assert "similarity 0.610" in evidence.detail


@pytest.mark.parametrize(("by_wording", "said"), [(True, "alike in wording"), (False, "near in meaning")])
def test_an_embedder_that_compares_letters_is_not_said_to_know_the_meaning(by_wording, said):
    found = VectorHits((Near("chapters/ch004.md", 1, 0.61, by_wording=by_wording),))
    corpus = ProjectCorpus({path: make_document(path, text.encode()) for path, text in SMALL.items()}, build_codex([]))
    answer = retrieve(corpus, "zyzzyva quux", sources=Sources(vectors=VectorGuard(lambda query: found)))
    assert answer[0].evidence[0].detail.startswith(said)


def test_vectors_never_move_what_words_found(tmp_path):
    root = write(tmp_path, SMALL)
    plain = corpus_of(root)
    everything = VectorHits(tuple(Near(path, 1, 0.9) for path in sorted(SMALL, reverse=True)))
    near = Asked(plain.corpus, Sources(vectors=VectorGuard(lambda query: everything)))
    for query in ("Anna and the wedding fire", "the fire in the chandlery", "what burns in chapter 3", "Anna"):
        before = references(plain.retrieve(query, limit=50))
        after = references(near.retrieve(query, limit=50))
        assert after[: len(before)] == before


def test_the_order_of_documents_changes_nothing():
    documents = [make_document(path, text.encode()) for path, text in SMALL.items()]
    codex = build_codex(documents)
    answers = set()
    for seed in range(4):
        random.Random(seed).shuffle(documents)
        corpus = ProjectCorpus({document.path: document for document in documents}, codex)
        answers.add(retrieve(corpus, "Anna and the wedding fire", limit=9).hits)
    assert len(answers) == 1


def test_a_corpus_that_takes_over_from_the_one_before_equals_one_made_anew_and_the_one_before_stays_as_it_was():
    documents = {path: make_document(path, text.encode()) for path, text in SMALL.items()}
    codex = build_codex(documents.values())
    before = ProjectCorpus(documents, codex)
    questions = ("the wedding", "Tom drowned", "the ledger", "chapter 4")
    was = [retrieve(before, query).hits for query in questions]
    changed = dict(documents)
    changed["chapters/ch002.md"] = make_document("chapters/ch002.md", b"# Chapter Two\n\nTom drowned in the storm.\n")
    del changed["chapters/ch004.md"]
    after, anew = ProjectCorpus(changed, codex, before=before), ProjectCorpus(changed, codex)
    for query, hits in zip(questions, was, strict=True):
        assert retrieve(after, query).hits == retrieve(anew, query).hits
        assert retrieve(before, query).hits == hits
    assert retrieve(after, "Tom drowned").hits != was[1]


def test_a_file_of_several_chapters_gives_a_hit_per_chapter(tmp_path):
    text = "# 第一章 雨\n\n林默在钟表铺修表。\n\n# 第二章 灯\n\n灯塔重新点亮了。\n"
    hit = corpus_of(write(tmp_path, {"novel.txt": text})).retrieve("灯塔点亮")[0]
    assert (hit.path, hit.section) == ("novel.txt", "第二章 灯")


def test_a_negative_limit_is_refused(small):
    with pytest.raises(ValueError, match="limit must be a whole number >= 0"):
        small.retrieve("x", limit=-1)


def test_an_empty_project_finds_nothing():
    tables = Corpus(build_codex([]))
    assert tables.by_chapter == {}
    assert retrieve(ProjectCorpus({}, build_codex([])), "anything").outcome == "nothing found"


def test_the_only_text_with_a_word_is_not_behind_texts_that_merely_tell_of_whom_the_words_describe(tmp_path):
    files = {
        "chapters/第一章.md": "# 第一章 凉茶\n\n沈砚秋擦着柜台。「沈掌柜，门口来了顶官轿。」\n",
        "chapters/第二章.md": "# 第二章 渡口\n\n沈砚秋上了渡船，没有回头。沈砚秋的眼泪落下来。\n",
        "chapters/第三章.md": "# 第三章 尾声\n\n阿笙成了茶楼的新掌柜。\n",
        "设定/人物.md": "# 人物\n\n## 沈砚秋\n\n- 类型：角色\n- 描述：茶楼的掌柜。\n",
        "大纲.md": "# 大纲\n\n## 第一章\n\n沈砚秋守着茶楼。\n\n## 第二章\n\n沈砚秋离开。\n",
    }
    assert references(corpus_of(write(tmp_path, files)).retrieve("新掌柜"))[0] == "chapters/第三章.md"


@pytest.mark.parametrize(
    "query", ["第3章之后发生了什么", "林小雨的父亲是谁", "灯塔", "谁从档案馆裁走了第十八页", "检查第2章的角色一致性"]
)
def test_a_short_answer_is_the_beginning_of_a_long_one(novel, query):
    long = list(novel.retrieve(query, limit=40))
    for limit in (0, 1, 2, 3, 5, 9):
        assert list(novel.retrieve(query, limit=limit)) == long[:limit]


ENTRIES = {
    "log/changes.md": "# Changes\n\n"
    + "".join(f"- Release {n}: properties and stories of {n} tables were named anew\n\n" for n in range(60)),
    "lib/notes.md": "# Notes\n\nOf a name that ends in ies, the last three letters become y.\n",
}


def test_a_quoted_word_matches_between_borders_of_words(tmp_path):
    with armarius.open(write(tmp_path, ENTRIES), watch=False) as engine:
        hits = engine.retrieve('Which names end in "ies"?')
        assert hits[0].path == "lib/notes.md"
        assert [one.kind for one in hits[0].evidence].count("phrase") == 1
        assert all(one.kind != "phrase" for hit in list(hits)[1:] for one in hit.evidence)
        pack = engine.assemble('Which names end in "ies"?', budget=2000)
        (row,) = (one for one in pack.items if one.source == "rag:passage:lib/notes.md#1")
        assert "ies" in [word for one in row.evidence for word in dict(one.detail.parts).get("words", ())]
        assert engine.retrieve('"ie"').outcome == "nothing found"


@pytest.mark.parametrize("phrase", ["钟楼", "灯塔"])
def test_a_quoted_word_of_a_script_without_spaces_stands_anywhere(tmp_path, phrase):
    files = {"正文/第1章.md": "# 第一章\n\n老钟楼上的灯塔亮了。\n\n船回来了。\n"}
    with armarius.open(write(tmp_path, files), watch=False) as engine:
        assert "phrase" in [one.kind for one in engine.retrieve(f"“{phrase}”")[0].evidence]


def test_a_quoted_word_weighs_by_its_rarity(tmp_path):
    files = {
        "a.md": "# A\n\n" + "".join(f"The lamp number {n} was lit at dusk.\n\n" for n in range(80)),
        "b.md": "# B\n\nThe lamp was lit for the drowned cooper, whose ledger lay below the stair.\n",
    }
    with armarius.open(write(tmp_path, files), watch=False) as engine:
        pack = engine.assemble('the "lamp" of the drowned cooper and his ledger', budget=2000)
        scores = {one.source: one.score for one in pack.items if one.source.startswith("rag:passage:")}
        assert max(scores, key=scores.__getitem__) == "rag:passage:b.md#1"
        alone = engine.assemble('the "drowned cooper" and the lamp', budget=2000)
        scores = {one.source: one.score for one in alone.items if one.source.startswith("rag:passage:")}
        best, *others = sorted(scores.values(), reverse=True)
        assert best > 15 > 5 > max(others, default=0)


COMMON = {  # a word of most paragraphs, a rare one; a common paragraph, the one that answers, the question
    "zh": (
        "河水", "铜匠", "{word}又涨了，第{n}天没有人过桥。", "{rare}在桥下藏了一把钥匙。", "{word}边的{rare}藏了什么？",
    ),
    "en": (
        "river", "cooper", "The {word} rose on day {n} and nobody crossed.", "A {rare} hid a key below the bridge.",
        "What did the {rare} of the {word} hide?",
    ),
    "ja": (
        "川面", "銅匠", "{word}がまた上がった。{n}日目も誰も渡らない。", "{rare}は橋の下に鍵を隠した。",
        "{word}の{rare}は何を隠した？",
    ),
    "ko": (
        "강물이", "대장장이가", "{word} 또 불었다. {n}일째 아무도 건너지 않았다.", "{rare} 다리 아래에 열쇠를 숨겼다.",
        "{word} 불었을 때 {rare} 무엇을 숨겼나?",
    ),
    "fr": (
        "rivière", "tonnelier", "La {word} monta le jour {n} et personne ne passa.", "Un {rare} cacha une clef là.",
        "Que cacha le {rare} de la {word} ?",
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", COMMON)
def test_a_word_of_most_paragraphs_weighs_nothing_in_any_language(tmp_path, language):
    word, rare, common, answer, query = COMMON[language]
    body = "".join(common.format(word=word, n=n) + "\n\n" for n in range(60))
    files = {"a.md": f"# A\n\n{body}", "b.md": f"# B\n\n{answer.format(rare=rare)}\n"}
    with armarius.open(write(tmp_path, files), watch=False) as engine:
        pack = engine.assemble(query.format(word=word, rare=rare), budget=2000)
        scores = {one.source: one.score for one in pack.items if one.source.startswith("rag:passage:")}
        best = scores.pop("rag:passage:b.md#1")
        assert best > 4 * max(scores.values(), default=0)
