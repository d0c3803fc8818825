// What a page cannot do alone: follow the index, slide the budget, look again. Everything else works without.
"use strict";

const live = document.getElementById("live");
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

const slide = document.querySelector("form.slide");
if (slide) {
  const range = slide.querySelector("input[type=range]");
  const output = slide.querySelector("output");
  const place = document.getElementById("prompt");
  let waiting = null, asked = 0;
  const ask = async () => {
    const mine = ++asked;
    const answer = await fetch(`/budget/${slide.dataset.number}?budget=${range.value}`);
    const text = await answer.text();
    if (mine !== asked) return;
    const page = new DOMParser().parseFromString(text, "text/html");
    place.replaceChildren(...(page.querySelector("main") ?? page.body).childNodes);
  };
  range.addEventListener("input", () => {
    output.textContent = Number(range.value).toLocaleString();
    clearTimeout(waiting);
    waiting = setTimeout(ask, 120);
  });
  slide.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
}

const again = async () => {
  if (!document.querySelector(".looking")) return;
  const answer = await fetch(location.pathname + location.search).catch(() => null);
  if (answer?.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.querySelector("main").replaceChildren(...page.querySelector("main").childNodes);
  }
  setTimeout(again, 1500);
};
setTimeout(again, 1500);
