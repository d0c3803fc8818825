// What a page cannot do alone: follow the files, put the cursor, redraw the prompt, open pages beside the text, keys.
"use strict";

const $ = (selector, of = document) => of.querySelector(selector);
const parsed = (text) => new DOMParser().parseFromString(text, "text/html");
const content = (page) => ($("main", page) ?? page.body).childNodes;
const later = (wait, act, waiting) => () => (clearTimeout(waiting), (waiting = setTimeout(act, wait)));

const desk = $("#desk"), text = $("#text"), prompted = $("#prompt"), strip = $("#strip"), drawer = $("#drawer"), drawn = $("#drawn"), draft = $("#draft");

// The request: where the cursor is, what is wished, what comes in or stays out this time.
const chosen = { include: new Set(), exclude: new Set() };
let cursor = text?.dataset.cursor ? Number(text.dataset.cursor) : null, selection = null, asked = 0, whole = null;
const request = () => {
  const fields = new URLSearchParams({ wish: strip.elements.wish.value || $("[data-wish]", strip).dataset.wish });
  for (const kind of ["include", "exclude"]) fields.set(kind, [...chosen[kind]].join("\n"));
  if (text) fields.set("path", text.dataset.path);
  if (draft && !draft.hidden) {
    for (const end of ["start", "end"]) fields.set(end, text.dataset[end]);
    fields.set("text", draft.value);
    fields.set("cursor", [...draft.value.slice(0, draft.selectionStart)].length);
    return fields;
  }
  if (cursor !== null) fields.set("cursor", cursor);
  if (selection) fields.set("selection", selection.join());
  return fields;
};
const post = async (path, body) => parsed(await (await fetch(path, { method: "POST", body })).text());

// The right column.
const look = async () => {
  const mine = ++asked;
  const page = await post("/prompt", request());
  if (mine !== asked) return;
  whole = null;
  const open = [...prompted.querySelectorAll("details[open] > summary b")].map((one) => one.textContent);
  prompted.replaceChildren(...($("[role=alert]", page) ? [$("[role=alert]", page)] : page.body.childNodes));
  for (const one of prompted.querySelectorAll("details[data-span] > summary b"))
    if (open.includes(one.textContent)) one.closest("details").open = true;
  prompted.dataset.cursor = cursor;
  $("#handle span").textContent = $(".sum b", prompted)?.textContent ?? "";
};
const lookSoon = later(150, () => look());
prompted?.addEventListener("toggle", async (event) => {
  const row = event.target;
  if (!row.open || !row.dataset.span) return;
  whole ??= post("/text", request()).then((page) => [...$("pre", page).textContent]);
  $("pre", row).textContent = (await whole).slice(...row.dataset.span.split(",")).join("");
}, true);
const choose = (target, to, from) => {
  if (!chosen[from].delete(target)) chosen[to].add(target);
  look();
};

// The strip.
strip?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const whole = $("pre", await post("/text", request()));
  await navigator.clipboard.writeText(whole.textContent);
  $("#said").textContent = $("#copy").dataset.said.replace("{}", Number(whole.dataset.tokens).toLocaleString());
});
strip?.elements.wish.addEventListener("input", lookSoon);

// The text: code points of the file, hidden signs included, are those of the page.
const offset = (node, at) => {
  const range = document.createRange();
  range.setStart(text, 0);
  range.setEnd(node, at);
  return [...range.toString()].length + Number(text.dataset.start);
};
const place = (wanted) => {
  const walk = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  let rest = wanted - Number(text.dataset.start), last = null;
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const length = [...node.data].length;
    if (!node.parentElement.matches(".mark")) {
      last = [node, node.length];
      if (rest <= length) return [node, [...node.data].slice(0, Math.max(0, rest)).join("").length];
    }
    rest -= length;
  }
  return last ?? [text, 0];
};
const caret = document.createElement("i");
caret.id = "caret";
const draw = (scroll) => {
  const range = document.createRange(), page = text.parentElement, ground = page.getBoundingClientRect();
  const [node, at] = place(cursor ?? Number(text.dataset.end));
  range.setStart(node, at);
  const rects = range.getClientRects(), box = rects[rects.length - 1] ?? node.parentElement?.getBoundingClientRect();
  if (!box) return;
  caret.style.left = `${box.left - ground.left + page.scrollLeft}px`;
  caret.style.top = `${box.top - ground.top + page.scrollTop}px`;
  caret.style.height = `${box.height || 20}px`;
  page.append(caret);
  if (scroll && (box.top < ground.top + 40 || box.bottom > ground.bottom - 40)) caret.scrollIntoView({ block: "center" });
};
const put = (where, range, soon, followed) => {
  [cursor, selection] = [where, range];
  draw(soon);
  if (!followed || location.pathname !== "/") history.replaceState(null, "", `${location.pathname.startsWith("/chapter/") ? location.pathname : `/chapter/${text.dataset.path.split("/").map(encodeURIComponent).join("/")}`}?cursor=${where}`);
  soon ? lookSoon() : look();
};
const read = (soon) => {
  const one = getSelection();
  if (!one.rangeCount || !text.contains(one.focusNode)) return;
  const ends = [offset(one.anchorNode, one.anchorOffset), offset(one.focusNode, one.focusOffset)];
  put(ends[1], one.isCollapsed ? null : ends.sort((a, b) => a - b), soon);
};
const STEPS = { ArrowLeft: ["backward", "character"], ArrowRight: ["forward", "character"], ArrowUp: ["backward", "line"],
  ArrowDown: ["forward", "line"], Home: ["backward", "lineboundary"], End: ["forward", "lineboundary"] };
if (text) {
  text.classList.toggle("sans", localStorage.getItem("face") === "sans");
  $("#face").addEventListener("click", () => (localStorage.setItem("face", text.classList.toggle("sans") ? "sans" : "serif"), draw()));
  text.addEventListener("click", (event) => {
    event.target.closest(".front_matter")?.classList.toggle("open");
    read(false);
  });
  text.addEventListener("keydown", (event) => {
    const step = STEPS[event.key], one = getSelection(), name = one.focusNode?.parentElement?.closest(".name");
    if (event.key === "Enter" && name && text.contains(name)) return event.preventDefault(), showCard(name, true);
    if (!step || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (!text.contains(one.focusNode)) one.collapse(...place(cursor ?? Number(text.dataset.end)));
    one.modify(event.shiftKey ? "extend" : "move", step[0], event.ctrlKey && step[1] === "character" ? "word" : step[1]);
    read(true);
  });
  document.addEventListener("selectionchange", () => {
    const name = getSelection().toString().trim(), link = $("#person");
    link.hidden = !name || name.length > 20 || !text.contains(getSelection().focusNode);
    link.href = `/entities?name=${encodeURIComponent(name)}#create`;
    link.textContent = link.dataset.said + name;
  });
  addEventListener("resize", later(100, () => draw()));
  draw(!location.hash);
}
// A name in the text: its card, on hover, by a click, or with Enter where the cursor is in it.
const card = document.createElement("aside");
let over = null;
card.id = "card";
const showCard = async (name, into) => {
  const answer = await fetch(name.dataset.of.replace("/entity/", "/card/"));
  if (!answer.ok || (!into && (over !== name || card.matches(":focus-within")))) return;
  card.replaceChildren(...content(parsed(await answer.text())));
  const box = name.getBoundingClientRect(), page = text.parentElement, ground = page.getBoundingClientRect();
  page.append(card);
  card.style.left = `${Math.max(8, Math.min(box.left - ground.left, ground.width - card.offsetWidth - 24))}px`;
  card.style.top = `${box.bottom - ground.top + page.scrollTop + 4}px`;
  if (into) $("textarea", card).focus();
};
const leaveCard = later(300, () => !over && !card.matches(":hover, :focus-within") && card.remove());
text?.addEventListener("mouseover", (event) => {
  over = event.target.closest(".name");
  if (over) setTimeout((name) => over === name && showCard(name), 350, over);
  else leaveCard();
});
text?.addEventListener("mouseleave", () => ((over = null), leaveCard()));
card.addEventListener("mouseleave", leaveCard);
card.addEventListener("focusout", leaveCard);

// My draft stands for the text of the chapter, and is kept in this browser.
const kept = () => `draft ${location.host} ${text.dataset.path} ${text.dataset.chapter}`;
if (draft) {
  const toggle = () => {
    draft.hidden = !draft.hidden;
    text.hidden = caret.hidden = !draft.hidden;
    $("#drafting").setAttribute("aria-expanded", !draft.hidden);
  };
  draft.value = localStorage.getItem(kept()) ?? "";
  draft.setSelectionRange(draft.value.length, draft.value.length);
  if (draft.value) toggle();
  $("#drafting").addEventListener("click", () => (toggle(), look()));
  draft.addEventListener("input", () => (draft.value ? localStorage.setItem(kept(), draft.value) : localStorage.removeItem(kept())));
  for (const event of ["input", "click", "keyup"]) draft.addEventListener(event, lookSoon);
}

if (strip) look();

const named = (of) => [...of.querySelectorAll(".name")].map((one) => one.dataset.of + one.textContent).join();
// The text as it is now, at what is new in it; at "/" the chapter that was saved last.
const follow = async () => {
  const now = new URL(location), open = [...document.querySelectorAll("#binder details")].map((one) => one.open);
  if (draft?.hidden) now.searchParams.set("seen", text.dataset.hash);
  const answer = await fetch(now).catch(() => null), page = answer && parsed(await answer.text()), fresh = page && $("#text", page);
  if (!fresh || !text) return page && location.reload();
  $("#binder").replaceChildren(...$("#binder", page).childNodes);
  document.querySelectorAll("#binder details").forEach((one, at) => (one.open ||= open[at] ?? false));
  if (fresh.dataset.path !== text.dataset.path) return draft.hidden && drawer.hidden ? location.reload() : look();
  const same = fresh.dataset.hash === text.dataset.hash;
  if (same && named(fresh) === named(text)) return look();
  for (const part of [".place small", "#earlier", "#later"]) $(part).replaceWith($(part, page));
  text.replaceChildren(...fresh.childNodes);
  Object.assign(text.dataset, fresh.dataset);
  if (same || !draft.hidden) return draw(), look();
  draft.value = localStorage.getItem(kept()) ?? "";
  put(Number(fresh.dataset.cursor ?? fresh.dataset.end), null, true, true);
};

// Pages open beside the text.
const show = (page, url) => {
  const { pathname, hash } = new URL(url), same = drawn.dataset.path === pathname;
  drawn.replaceChildren(...content(page));
  Object.assign(drawn.dataset, { url, path: pathname });
  drawer.hidden = false;
  if ($("#binder").classList.contains("open")) $("#menu").click();
  saved(page);
  if (hash && $(`[id="${CSS.escape(hash.slice(1))}"]`, drawn)) $(`[id="${CSS.escape(hash.slice(1))}"]`, drawn).scrollIntoView();
  else if (!same) drawer.scrollTop = 0;
  begin();
};
const begin = () => ($(".answers :is(a, button)", drawn) ?? drawn).focus({ preventScroll: true });
const saved = (page) => $("#saved").replaceChildren(...($("#saved", page)?.childNodes ?? []));
const open = async (href) => {
  const answer = await fetch(href);
  show(parsed(await answer.text()), new URL(href, answer.url).href);
};

// Forms: an error stands beside the field that it names, else in the form, which keeps what was typed.
const besideField = (form, said) => {
  const named = said.textContent.match(/[a-z_]+/g) ?? [];
  const field = [...form.elements].find((one) => one.type !== "hidden" && named.includes(one.name));
  if (!field) return form.prepend(said);
  said.id = "wrong";
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", "wrong");
  field.labels?.[0]?.append(said);
  field.focus();
};
const wrong = (form, page) => {
  $("[role=alert]", form)?.remove();
  $("[aria-invalid]", form)?.removeAttribute("aria-invalid");
  const said = $("[role=alert]", page);
  if (said) besideField(form, said);
  return said !== null;
};
// A field of a person is saved when it is left; one that was emptied asks first.
const emptied = (form) => {
  const ask = $(".ask", form), field = $("label > [name]", form);
  if (!ask?.hidden || field.value.trim() || !field.defaultValue.trim()) return false;
  ask.hidden = false;
  return true;
};
const begun = (form) => {
  const field = $("label > [name]", form);
  if (field.tagName !== "SELECT") field.defaultValue = field.value;
  form.elements[`was_${field.name}`].value = field.value;
  if ($(".ask", form)) $(".ask", form).hidden = true;
};
document.addEventListener("change", (event) => event.target.closest(".auto, [data-now]")?.requestSubmit());
document.addEventListener("reset", (event) => $(".ask", event.target) && ($(".ask", event.target).hidden = true));
document.addEventListener("submit", async (event) => {
  const form = event.target, into = form.dataset.into, posted = form.method === "post";
  if (emptied(form)) return event.preventDefault();
  if (form === strip || form.method === "dialog" || (!desk && !into && !posted) || (into && !$(into))) return;
  event.preventDefault();
  const fields = new FormData(form, event.submitter);
  if (form.id === "why") for (const [name, value] of request()) fields.set(name, value);
  const body = form.enctype === "multipart/form-data" ? fields : new URLSearchParams(fields);
  const answer = await fetch(posted ? form.action : `${form.action}?${body}`, posted ? { method: "POST", body } : {});
  const page = parsed(await answer.text());
  if (wrong(form, page)) return;
  if (form.matches(".auto")) {
    if (!drawer?.hidden && drawn?.dataset.path === "/inbox") await open(drawn.dataset.url);
    return begun(form), saved(page), desk && look();
  }
  if (form.closest(".limits")) {
    const to = new URL(answer.url);
    if (cursor !== null) to.searchParams.set("cursor", cursor);
    return location.assign(to);
  }
  if (form.closest(".place")) return location.assign(answer.url);
  if (prompted?.contains(form)) return saved(page), look();
  if (form.closest("#saved") && drawer?.hidden) return saved(page), look();
  if (into && into !== "#drawn") {
    $(into).replaceChildren(...content(page));
    if ($("[data-copied]", $(into))) await navigator.clipboard.writeText($("[data-copied]", $(into)).textContent);
    if (form.id === "bring" && event.submitter?.name) $("#books").replaceWith($("#books", parsed(await (await fetch("/bring")).text())));
    return posted && desk && look();
  }
  if (desk) return show(page, answer.url), look();
  if (answer.redirected) return location.assign(answer.url);
  $("main").replaceChildren(...content(page));
  $("main").focus();
});

document.addEventListener("click", (event) => {
  const one = event.target.closest("a, button");
  if (!one) return;
  const link = one.getAttribute("href") ?? "";
  if (one.dataset.sure) {
    one.textContent = one.dataset.sure;
    delete one.dataset.sure;
    event.preventDefault();
  } else if (one.dataset.drop) choose(one.dataset.drop, "exclude", "include");
  else if (one.dataset.add) choose(one.dataset.add, "include", "exclude");
  else if (one.dataset.wish) [strip.elements.wish.value] = [one.dataset.wish], look();
  else if (one.id === "close") close();
  else if (one.id === "menu" || one.id === "handle") {
    const shown = $(one.id === "menu" ? "#binder" : "#sheet").classList.toggle("open");
    one.setAttribute("aria-expanded", shown);
  } else if (one.lang && link.startsWith("?")) {
    const here = new URL(location);
    here.searchParams.set("lang", one.lang);
    event.preventDefault();
    location.assign(here);
  } else if (desk && /^\/(?!chapter\/|$)/.test(link) && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    open(link);
  }
});
const close = () => {
  drawer.hidden = true;
  text?.focus();
};

// A file that is dropped anywhere is looked at; nothing is written.
const dropped = (event) => event.dataTransfer?.types.includes("Files") && (event.preventDefault(), true);
document.addEventListener("dragover", dropped);
document.addEventListener("drop", async (event) => {
  if (!dropped(event)) return;
  const { files } = event.dataTransfer;
  if (!$("#bring") && desk) await open("/bring");
  if (!$("#bring")) return;
  $("#bring input[type=file]").files = files;
  $("#bring").requestSubmit();
});

const REGIONS = ["#text", "#column", "#why", "#strip", "#binder"];
document.addEventListener("keydown", (event) => {
  const held = event.ctrlKey || event.metaKey, key = event.key.toLowerCase();
  const typing = event.target.matches("input, textarea, select");
  let done = true;
  if (held && event.shiftKey && key === "c" && strip) strip.requestSubmit();
  else if (held && key === "k") $("#words").focus();
  else if (held && key === "enter") event.target.closest("form")?.requestSubmit();
  else if (key === "escape" && card.isConnected) card.remove(), text.focus();
  else if (key === "escape" && drawer && !drawer.hidden) close();
  else if (key === "f8") desk ? open("/inbox") : location.assign("/inbox");
  else if (key === "f6" && desk) {
    const at = REGIONS.findLastIndex((one) => $(one)?.contains(event.target)), back = event.shiftKey;
    const next = $(REGIONS[back ? (Math.max(at, 0) || REGIONS.length) - 1 : (at + 1) % REGIONS.length]);
    (next === text ? next : [...next.querySelectorAll("a, button, input, summary")].at(back ? -1 : 0))?.focus();
  } else if (held && key === "z" && !typing) $("#saved button")?.click();
  else if (typing || held || event.altKey) done = false;
  else if (key === "/") $("#words").focus();
  else if (key === "?") $("#keys").open ? $("#keys").close() : $("#keys").showModal();
  else done = false;
  if (done) event.preventDefault();
});

// What is looked for in the background is asked for again until it is there.
const again = async () => {
  const waits = () => $(".looking") && !$("#asked form");
  if (waits()) {
    const answer = await fetch(drawn?.dataset.url ?? location.href).catch(() => null), page = answer?.ok && parsed(await answer.text());
    if (page && waits()) (drawn ?? $("main")).replaceChildren(...content(page)), document.activeElement === drawn && begin();
  }
  setTimeout(again, 1500);
};
setTimeout(again, 300);

const live = $("#live"), LIVE = live.textContent;
const events = new EventSource("/events");
let first = null;
events.onmessage = (event) => {
  const [state, generation, done, total] = JSON.parse(event.data), building = state === "building";
  if (live.className === "gone") live.textContent = LIVE;
  live.className = building ? "busy" : "";
  if (building) live.textContent = `${done} / ${total}`;
  else if (first !== null && generation !== first) {
    live.textContent = live.dataset.said;
    if (desk) follow();
  }
  first = building ? first ?? -1 : generation;
  live.dataset.generation = generation;
};
const dead = () => {
  live.className = "gone";
  live.textContent = live.dataset.gone;
};
events.onerror = dead;
addEventListener("unhandledrejection", (event) => {
  if (/fetch|network|load failed/i.test(event.reason?.message)) event.preventDefault(), dead();
});
addEventListener("pagehide", () => events.close());
