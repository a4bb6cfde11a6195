// The page with keys and without reloads. Every form works without this script as well.
import { tokens } from "./tags.js";

const PART = { "X-Part": "1" };
const WHY = "surelearn-why";
let busy = false;
let move = () => false;

const find = (selector) => document.querySelector(selector);
const isTyping = (element) => element.matches("input:not([type=checkbox]), select, textarea");

function say(text) {
  const box = find("#message");
  box.textContent = text;
  box.hidden = !text;
}

// Sends a form and shows the question that comes back. Keys do nothing meanwhile: they would
// answer a question that nobody has seen.
async function send(form, button) {
  if (busy) return;
  busy = true;
  try {
    const body = new URLSearchParams(new FormData(form, button));
    const answer = await fetch(form.action, { method: "POST", headers: PART, body });
    const text = await answer.text();
    if (answer.ok) {
      say("");
      show(text, form.matches(".add"));
    } else {
      say(text || "That did not work.");
    }
  } catch {
    say("Not saved: surelearn label does not answer. Is it still running?");
  } finally {
    busy = false;
  }
}

function show(html, isSame) {
  const fragment = new DOMParser().parseFromString(html, "text/html").body.firstElementChild;
  if (isSame) keep(find("#work"), fragment);
  find("#work").replaceWith(fragment);
  fragment.classList.add("new");
  prepare();
  find("#text")?.focus({ preventScroll: true });
  find("#live").textContent = find(".meta")?.textContent ?? "";
  window.scrollTo(0, 0);
  refresh();
}

// What was chosen but is not saved yet stays when a label is added.
function keep(before, now) {
  const ticked = [...before.querySelectorAll(".choices :checked")].map((box) => box.value);
  for (const box of now.querySelectorAll(".choices input")) box.checked = ticked.includes(box.value);
  const tokens = before.querySelectorAll(".token");
  now.querySelectorAll(".token").forEach((token, i) => {
    token.dataset.tag = tokens[i].dataset.tag;
    token.className = tokens[i].className;
  });
}

// The panel follows after the text, so that the text does not wait for it.
let asked = 0;
async function refresh() {
  const mine = ++asked;
  try {
    const answer = await fetch("/panel", { headers: PART });
    if (!answer.ok || mine !== asked) return;
    const html = await answer.text();
    const fragment = new DOMParser().parseFromString(html, "text/html").body.firstElementChild;
    find("#panel")?.replaceWith(fragment);
  } catch {
    // The next answer will say that the server is gone.
  }
}

function prepare() {
  const why = find(".why");
  if (why) {
    why.open = localStorage.getItem(WHY) === "open";
    why.addEventListener("toggle", () => localStorage.setItem(WHY, why.open ? "open" : "closed"));
  }
  find("#find-label")?.addEventListener("input", filter);
  move = tokens(find("#work"));
}

function choices() {
  return [...document.querySelectorAll(".choices > *")].filter((element) => !element.hidden);
}

function filter() {
  const wanted = find("#find-label").value.trim().toLowerCase();
  for (const element of document.querySelectorAll(".choices > *")) {
    const name = element.dataset.choice || element.value || element.querySelector("input")?.value;
    element.hidden = !(name ?? "").toLowerCase().includes(wanted);
  }
}

// Takes the first label that was found; where an answer has several parts, the next can follow.
function takeFound(field) {
  if (!field.value.trim()) return;
  choices()[0]?.click();
  field.value = "";
  filter();
  if (document.activeElement === field) find("#text")?.focus({ preventScroll: true });
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  const inPlace = find("#main") && form.method === "post" && form.closest("#work");
  if (!inPlace) return;
  event.preventDefault();
  send(form, event.submitter);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const element = document.activeElement ?? document.body;
  if (event.key === "Escape" && isTyping(element)) {
    element.blur();
    return;
  }
  if (element.id === "find-label" && event.key === "Enter") {
    event.preventDefault();
    takeFound(element);
    return;
  }
  if (isTyping(element) || find("dialog")?.open) return;
  // A key that is held down moves on, but never answers twice.
  if (move(event) || (!event.repeat && press(named(event), element))) event.preventDefault();
});

// Some keyboards need Shift for digits: there the place of the key counts.
function named(event) {
  const digit = /^Digit(\d)$/.exec(event.code);
  return digit && !event.shiftKey ? digit[1] : event.key;
}

function press(key, element) {
  if (key === "?") find("#keys")?.showModal();
  else if (key === "/" && find("#find-label")) find("#find-label").focus();
  else if (key === "n" && find("#new-label")) find("#new-label").focus();
  else if (key === "w" && find(".why")) find(".why").open = !find(".why").open;
  else if (key === "Enter" && element.matches("button:not(.token), a, summary")) return false;
  else {
    const button = find(`#work [data-key="${CSS.escape(key.length === 1 ? key.toLowerCase() : key)}"]`);
    if (!button || button.disabled) return false;
    button.click();
  }
  return true;
}

find("#help")?.addEventListener("click", () => find("#keys").showModal());
prepare();
find("#main #text")?.focus({ preventScroll: true });
