// Tokens with tags: choose a token or a span, then a tag. Gives a function that takes the keys
// which move: true if it took one.
export function tokens(work) {
  const all = [...(work?.querySelectorAll(".token") ?? [])];
  if (!all.length) return () => false;
  const field = work.querySelector("#tags");
  const spans = "spans" in work.querySelector(".choices").dataset;
  let [anchor, head] = [0, 0];

  const tag = (i) => all[i]?.dataset.tag ?? "O";
  const hues = new Map(
    [...work.querySelectorAll("[data-choice]")].map(({ dataset }) => [dataset.choice, dataset.hue]),
  );
  const kind = (i) => tag(i).split("-").slice(1).join("-");

  // Looks and names of all tokens, from their tags.
  function paint() {
    const [first, last] = [Math.min(anchor, head), Math.max(anchor, head)];
    all.forEach((token, i) => {
      const chosen = i >= first && i <= last;
      const inside = spans && tag(i).startsWith("I-");
      token.setAttribute("aria-pressed", chosen);
      token.tabIndex = i === head ? 0 : -1;
      token.classList.toggle("tagged", tag(i) !== "O");
      token.classList.toggle("inside", inside);
      token.dataset.hue = hues.get(spans ? kind(i) : tag(i)) ?? "none";
      token.querySelector("small").textContent = spans ? (inside ? "" : kind(i)) : tag(i);
      const unsure = token.classList.contains("unsure") ? ", unsure" : "";
      token.setAttribute("aria-label", `${token.querySelector("span").textContent}, ${tag(i)}${unsure}`);
    });
    field.value = all.map((token) => token.dataset.tag).join(" ");
  }

  function give(name) {
    const [first, last] = [Math.min(anchor, head), Math.max(anchor, head)];
    for (let i = first; i <= last; i++) {
      const plain = !spans || name === "O";
      all[i].dataset.tag = plain ? name : `${i === first ? "B" : "I"}-${name}`;
      all[i].classList.remove("unsure");
    }
    // What is left of a span that was cut begins anew.
    const next = last + 1;
    if (spans && tag(next).startsWith("I-")) all[next].dataset.tag = `B-${kind(next)}`;
    paint();
  }

  function choose(to, extend) {
    head = Math.max(0, Math.min(all.length - 1, to));
    if (!extend) anchor = head;
    paint();
    all[head].focus({ preventScroll: false });
  }

  all.forEach((token, i) => token.addEventListener("click", (event) => choose(i, event.shiftKey)));
  for (const button of work.querySelectorAll("[data-choice]")) {
    button.addEventListener("click", () => {
      give(button.dataset.choice);
      all[head].focus();
    });
  }
  const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -1e6, End: 1e6 };
  paint();
  return (event) => {
    if (!(event.key in steps)) return false;
    choose(head + steps[event.key], event.shiftKey);
    return true;
  };
}
