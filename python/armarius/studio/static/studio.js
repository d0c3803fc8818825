// What a page cannot do alone: follow the index, send forms in place, put the cursor, keys. Everything else works without.
"use strict";

const $ = (selector, of = document) => of.querySelector(selector);
const parsed = (text) => new DOMParser().parseFromString(text, "text/html");
const content = (page) => ($("[data-part]", page) ?? $("main", page) ?? page.body).childNodes;

const live = $("#live");
if (live && window.EventSource) {
  const events = new EventSource("/events");
  let first = null;
  events.onmessage = (event) => {
    const now = JSON.parse(event.data);
    live.classList.remove("gone");
    live.classList.toggle("busy", now.state === "building");
    if (now.state === "building") live.textContent = `${now.done} / ${now.total}`;
    else if (first !== null && now.generation !== first) live.textContent = live.dataset.said;
    if (first === null) first = now.generation;
    live.dataset.generation = now.generation;
  };
  events.onerror = () => live.classList.add("gone");
  window.addEventListener("pagehide", () => events.close());
}

// Forms: an error stands beside the field that it names, else in the form, which keeps what was typed.
const besideField = (form, said) => {
  const named = said.textContent.match(/[a-z_]+/g) ?? [];
  const field = [...form.elements].find((one) => one.type !== "hidden" && named.includes(one.name));
  if (!field) return form.prepend(said);
  said.id = "said";
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", "said");
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
for (const said of document.querySelectorAll("form > [role=alert]")) besideField(said.parentElement, said);

document.addEventListener("submit", async (event) => {
  const form = event.target, into = form.dataset.into;
  const post = form.method === "post";
  if (!into && !post) return;
  event.preventDefault();
  const fields = new FormData(form, event.submitter);
  const inside = beside?.contains(form);
  const body = form.enctype === "multipart/form-data" ? fields : new URLSearchParams(fields);
  const answer = await fetch(post ? form.action : `${form.action}?${body}`, post ? { method: "POST", body } : {});
  const page = parsed(await answer.text());
  if (!("whole" in form.dataset) && wrong(form, page)) return;
  if (inside) return look();
  if (form.id === "bring") return $("#brought").replaceChildren(...content(page));
  if (into) return $(into).replaceChildren(...content(page));
  if (answer.redirected) return location.pathname + location.search === new URL(answer.url).pathname + new URL(answer.url).search
    ? location.reload() : location.assign(answer.url);
  $("main").replaceChildren(...content(page));
  $("main").focus();
});

const slide = $("form.slide");
if (slide) {
  const range = $("input[type=range]", slide), output = $("output", slide);
  let waiting = null;
  range.addEventListener("input", () => {
    output.textContent = Number(range.value).toLocaleString();
    clearTimeout(waiting);
    waiting = setTimeout(() => slide.requestSubmit(), 120);
  });
}

// The text: a click puts the cursor, and what the model will know there stands beside it.
const beside = $("#beside"), prose = $("#prose"), typed = $("#live-text");
let asked = 0, cursor = null;
const look = async () => {
  const mine = ++asked;
  const fields = new URLSearchParams(cursor === null ? {} : { cursor });
  if (!typed.hidden) fields.set("text", typed.value);
  const answer = await fetch(`/beside/${prose.dataset.path}`, { method: "POST", body: fields });
  const page = parsed(await answer.text());
  if (mine !== asked) return;
  beside.replaceChildren(...($("[role=alert]", page) ? [$("[role=alert]", page)] : page.body.childNodes));
  beside.dataset.cursor = cursor;
};

const offset = (node, at) => {
  const range = document.createRange();
  range.setStart(prose, 0);
  range.setEnd(node, at);
  return [...range.toString()].length;
};

if (prose) {
  const mark = (node) => {
    $(".at", prose)?.classList.remove("at");
    node?.closest?.("span[id]")?.classList.add("at");
  };
  const put = (where) => {
    cursor = where;
    const link = new URL($("#asklink").href);
    link.searchParams.set("cursor", where);
    $("#asklink").href = link;
    look();
  };
  prose.addEventListener("click", (event) => {
    const here = event.target.closest("a");
    if (here?.dataset.cursor) {
      event.preventDefault();
      mark(here.previousElementSibling);
      return put(Number(here.dataset.cursor));
    }
    const chosen = getSelection();
    if (here || !chosen.isCollapsed || !prose.contains(chosen.focusNode)) return;
    mark(event.target);
    put(offset(chosen.focusNode, chosen.focusOffset));
  });
  document.addEventListener("selectionchange", () => {
    const name = getSelection().toString().trim(), link = $("#person");
    link.hidden = !name || name.length > 20 || !prose.contains(getSelection().focusNode);
    link.href = `/entities?name=${encodeURIComponent(name)}#create`;
    link.textContent = link.dataset.said + name;
  });
  let waiting = null;
  const follow = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => put([...typed.value.slice(0, typed.selectionStart)].length), 80);
  };
  for (const kind of ["input", "click", "keyup"]) typed.addEventListener(kind, follow);
  $("#paste").addEventListener("click", () => {
    typed.hidden = !typed.hidden;
    prose.hidden = !typed.hidden;
    if (!typed.hidden) typed.focus();
    cursor = typed.hidden ? null : [...typed.value].length;
    look();
  });
}

document.addEventListener("click", async (event) => {
  const copy = event.target.closest("[data-copy]");
  if (!copy) return;
  await navigator.clipboard.writeText($(copy.dataset.copy).textContent);
  copy.textContent = copy.dataset.said;
});

const drop = $("#bring");
if (drop) {
  drop.addEventListener("dragover", (event) => event.preventDefault());
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    $("input[type=file]", drop).files = event.dataTransfer.files;
    drop.requestSubmit();
  });
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, textarea, select");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.closest("form")?.requestSubmit();
  else if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  else if (event.key === "/") event.preventDefault(), $("form.search input").focus();
  else if (event.key === "?") $("#keys").open ? $("#keys").close() : $("#keys").showModal();
});

const again = async () => {
  if (!$(".looking")) return;
  const answer = await fetch(location.pathname + location.search).catch(() => null);
  if (answer?.ok) $("main").replaceChildren(...content(parsed(await answer.text())));
  setTimeout(again, 1500);
};
setTimeout(again, 300);
