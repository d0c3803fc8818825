"""Folders of well-known families, with random weights, run as their makers say: compared with plain NumPy."""

import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tests.vectors import decoder
from tests.vectors.bert_reference import hidden_states, random_weights
from tokenizers import BertWordPieceTokenizer, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from armarius import embedders
from armarius.embedders.folder import ModelFolder
from armarius.embedders.preprocess import FAMILIES, EmbeddingPrompts, prompts_of
from armarius.errors import EmbeddingError

TEXTS = ["银色河流", "一个姑娘因为诗而落泪，林小雨的妹妹住在江城。", ""]
BGE = "为这个句子生成表示以用于检索相关文章："
INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"


def named(tiny, name, **files):
    """`tiny` under another name, with other settings; None removes a file."""
    folder = tiny.rename(tiny.parent / name)
    for path, content in files.items():
        file = folder / {"pooling": "1_Pooling/config.json", "prompts": "config_sentence_transformers.json"}.get(
            path, f"{path}.json"
        )
        if content is None:
            file.unlink()
        else:
            file.write_text(json.dumps(content), "utf-8")
    return folder


def reference(folder, texts, *, prompt="", pooling="mean", unit=True):
    weights, config = load_file(folder / "model.safetensors"), json.loads((folder / "config.json").read_text())
    tokenizer = BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=True)
    rows = []
    for text in texts:
        states = hidden_states(weights, config, tokenizer.encode(prompt + text).ids)
        row = states[0] if pooling == "cls" else states.mean(0)
        rows.append(row / np.linalg.norm(row) if unit else row)
    return np.array(rows)


NORMALISED = [{"type": "Transformer"}, {"type": "Pooling"}, {"type": "sentence_transformers.models.Normalize"}]
CLS = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}


@pytest.mark.parametrize(
    ("name", "files", "query", "document", "pooling"),
    [
        ("multilingual-e5-small", {"modules": NORMALISED}, "query: ", "passage: ", "mean"),
        ("multilingual-e5-small", {"modules": None, "sentence_bert_config": None}, "query: ", "passage: ", "mean"),
        ("bge-base-zh-v1.5", {"modules": NORMALISED, "pooling": CLS}, BGE, "", "cls"),
        ("bge-base-zh-v1.5", {"modules": None, "sentence_bert_config": None, "pooling": None}, BGE, "", "cls"),
        (
            "bge-small-en",
            {"modules": NORMALISED, "pooling": CLS},
            "Represent this sentence for searching relevant passages: ",
            "",
            "cls",
        ),
        ("gte-base", {"modules": NORMALISED}, "", "", "mean"),
        ("gte-large-zh", {"modules": NORMALISED, "pooling": CLS}, "", "", "cls"),
        ("all-MiniLM-L6-v2", {"modules": NORMALISED}, "", "", "mean"),
        (
            "some-model",
            {"modules": NORMALISED, "prompts": {"prompts": {"query": "问：", "document": "文："}}},
            "问：",
            "文：",
            "mean",
        ),
    ],
)
def test_a_family_is_run_as_its_makers_say(tiny, name, files, query, document, pooling):
    folder = named(tiny, name, **files)
    embedder = embedders.load(folder)
    questions, paragraphs = embedder.embed_queries(TEXTS), embedder.embed_documents(TEXTS)
    assert (questions.dtype, questions.shape) == (np.float32, (len(TEXTS), 32))
    np.testing.assert_allclose(questions, reference(folder, TEXTS, prompt=query, pooling=pooling), atol=2e-5)
    np.testing.assert_allclose(paragraphs, reference(folder, TEXTS, prompt=document, pooling=pooling), atol=2e-5)


def test_text2vec_makes_no_difference_between_kinds_and_does_not_normalise(tiny):
    embedder = embedders.load(tiny)
    expected = reference(tiny, TEXTS, unit=False)
    np.testing.assert_allclose(embedder.embed_queries(TEXTS), expected, atol=2e-5)
    np.testing.assert_array_equal(embedder.embed_queries(TEXTS), embedder.embed_documents(TEXTS))


def test_a_real_minilm_makes_no_difference_between_kinds(minilm):
    embedder = embedders.load(minilm)
    np.testing.assert_array_equal(embedder.embed_queries(TEXTS), embedder.embed_documents(TEXTS))


def test_what_the_caller_says_comes_before_the_folder_and_its_family(tiny):
    folder = named(tiny, "multilingual-e5-small", modules=NORMALISED)
    embedder = embedders.load(folder, query_prompt="", document_prompt="文：")
    np.testing.assert_allclose(embedder.embed_queries(TEXTS), reference(folder, TEXTS), atol=2e-5)
    np.testing.assert_allclose(embedder.embed_documents(TEXTS), reference(folder, TEXTS, prompt="文："), atol=2e-5)


def test_the_prompt_of_documents_is_part_of_the_fingerprint_that_of_questions_is_not(tiny):
    plain = embedders.safetensors(tiny).fingerprint
    assert embedders.safetensors(tiny, query_prompt="q: ").fingerprint == plain
    other = embedders.safetensors(tiny, document_prompt="d: ").fingerprint
    assert other != plain
    assert type(other).from_json(other.to_json()) == other
    assert "before documents 'd: '" in str(other)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, EmbeddingPrompts()),
        ({"prompts": {}, "default_prompt_name": None}, EmbeddingPrompts()),
        ({"prompts": {"query": "q: ", "passage": "p: "}}, EmbeddingPrompts("q: ", "p: ")),
        ({"prompts": {"query": f"{INSTRUCT}", "document": ""}}, EmbeddingPrompts(INSTRUCT, "")),
        ({"prompts": {"query": "q: ", "all": "a: "}, "default_prompt_name": "all"}, EmbeddingPrompts("q: ", "a: ")),
        ({"prompts": {"query": "q: ", "document": ""}, "default_prompt_name": "query"}, EmbeddingPrompts("q: ", "")),
        ({"prompts": {"query": "", "document": "", "passage": "p: "}}, EmbeddingPrompts("", "p: ")),
    ],
)
def test_prompts_are_read_as_sentence_transformers_saves_them(tiny, said, expected):
    (tiny / "config_sentence_transformers.json").write_text(json.dumps(said), "utf-8")
    assert prompts_of(ModelFolder.open(tiny)) == expected


@pytest.mark.parametrize(
    "said", [{"prompts": "q"}, {"prompts": {"query": 3}}, {"prompts": {"query": "q: "}, "default_prompt_name": "x"}]
)
def test_prompts_that_are_none_are_refused_with_the_file(tiny, said):
    (tiny / "config_sentence_transformers.json").write_text(json.dumps(said), "utf-8")
    with pytest.raises(EmbeddingError, match=r"config_sentence_transformers\.json says"):
        embedders.load(tiny)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("multilingual-e5-large-instruct", f"{INSTRUCT} "),
        ("models--intfloat--e5-base-v2/snapshots/1c644c92", "query: "),
        ("Qwen3-Embedding-0.6B", INSTRUCT),
        ("bge-m3", ""),
        ("e5x-something", ""),
        ("vale5", ""),
    ],
)
def test_a_model_is_told_by_its_name_also_in_a_cache(tiny, name, expected):
    folder = tiny.parent / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    tiny.rename(folder)
    assert prompts_of(ModelFolder.open(folder)).query == expected


def test_a_model_that_was_renamed_is_told_by_what_its_config_says(tiny):
    config = json.loads((tiny / "config.json").read_text())
    (tiny / "config.json").write_text(json.dumps({**config, "_name_or_path": "/root/BAAI/bge-small-zh-v1.5/"}))
    assert prompts_of(ModelFolder.open(tiny)).query == BGE
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)


def test_positions_of_xlm_roberta_begin_behind_its_padding(tiny):
    before = json.loads((tiny / "config.json").read_text())
    config = {**before, "model_type": "xlm-roberta", "pad_token_id": 1}
    weights = random_weights(config, seed=3)
    save_file(weights, tiny / "model.safetensors")
    (tiny / "config.json").write_text(json.dumps(config))
    found = embedders.safetensors(tiny).embed_documents(TEXTS)
    shifted = {**weights, "embeddings.position_embeddings.weight": weights["embeddings.position_embeddings.weight"][2:]}
    save_file(shifted, tiny / "model.safetensors")
    np.testing.assert_allclose(found, reference(tiny, TEXTS, unit=False), atol=2e-5)


def test_a_layer_behind_the_pooling_is_refused_not_left_out(tiny):
    modules = [*NORMALISED[:2], {"type": "sentence_transformers.models.Dense"}]
    folder = named(tiny, "with-dense", modules=modules)
    with pytest.raises(EmbeddingError, match="Dense layer"):
        embedders.load(folder)


WORDS = ["<pad>", "<unk>", "<|endoftext|>", "Instruct:", "Query:", "moon", "river", "silver", "night"]


def qwen3(folder, *, side="left", eos="template"):
    """A folder with Qwen3-Embedding's files: prompts, last token, padding, end token; a random decoder in ONNX."""
    table = decoder.weights(len(WORDS))
    decoder.export(table, folder / "onnx" / "model.onnx")
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="<unk>"))
    from tokenizers.pre_tokenizers import WhitespaceSplit

    tokenizer.pre_tokenizer = WhitespaceSplit()
    if eos == "template":
        tokenizer.post_processor = TemplateProcessing(
            single="$A <|endoftext|>", special_tokens=[("<|endoftext|>", WORDS.index("<|endoftext|>"))]
        )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "1_Pooling").mkdir()
    settings = {
        "config.json": {"model_type": "qwen3", "hidden_size": decoder.HIDDEN},
        "tokenizer_config.json": {
            "padding_side": side,
            "eos_token": "<|endoftext|>",
            "add_eos_token": eos == "configured",
        },
        "modules.json": NORMALISED,
        "1_Pooling/config.json": {"pooling_mode_lasttoken": True, "pooling_mode_mean_tokens": False},
        "config_sentence_transformers.json": {
            "prompts": {"query": "Instruct: moon Query:", "document": ""},
            "default_prompt_name": None,
        },
    }
    for name, content in settings.items():
        (folder / name).write_text(json.dumps(content), "utf-8")
    return table


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("eos", ["template", "configured"])
def test_a_decoder_is_read_at_its_last_token_whatever_the_padding(tmp_path, side, eos):
    folder = tmp_path / "Qwen3-Embedding-tiny"
    table = qwen3(folder, side=side, eos=eos)
    texts = ["river", "silver river night moon", "moon moon"]
    embedder = embedders.load(folder)

    def expected(prompt):
        ends = []
        for text in texts:
            ids = [WORDS.index(word) for word in [*prompt, *text.split(), "<|endoftext|>"]]
            ends.append(decoder.states(table, ids)[-1])
        return np.array([row / np.linalg.norm(row) for row in ends])

    np.testing.assert_allclose(embedder.embed_documents(texts), expected([]), atol=1e-5)
    joined = [f" {text}" for text in texts]  # the prompt ends without a space
    np.testing.assert_allclose(embedder.embed_queries(joined), expected(["Instruct:", "moon", "Query:"]), atol=1e-5)


def test_a_cut_text_still_ends_with_the_end_token(tmp_path):
    folder = tmp_path / "Qwen3-Embedding-tiny"
    table = qwen3(folder, eos="configured")
    found = embedders.onnx(folder, max_length=4).embed_documents(["moon river silver night moon"])
    ids = [WORDS.index(word) for word in ("moon", "river", "silver", "<|endoftext|>")]
    expected = decoder.states(table, ids)[-1]
    np.testing.assert_allclose(found[0], expected / np.linalg.norm(expected), atol=1e-5)


def test_pooling_that_leaves_prompts_out_is_refused(tiny):
    folder = named(tiny, "instructor", pooling={"pooling_mode_mean_tokens": True, "include_prompt": False})
    with pytest.raises(EmbeddingError, match="leaves prompts out"):
        embedders.safetensors(folder)
    shutil.rmtree(folder)


def test_a_static_table_has_prompts_too(tmp_path):
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "q": 1, "moon": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    save_file({"embeddings": np.eye(3, dtype=np.float32)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text('{"model_type": "model2vec", "normalize": false}')
    embedder = embedders.static(tmp_path, query_prompt="q ")
    np.testing.assert_allclose(embedder.embed_queries(["moon"]), [[0, 0.5, 0.5]])
    np.testing.assert_allclose(embedder.embed_documents(["moon"]), [[0, 0, 1]])
