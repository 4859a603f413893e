"use strict";
(() => {
  const place = (id) => document.getElementById(id);
  const cards = Array.from(document.querySelectorAll("article.card"));
  const tools = place("page:tools");
  const search = place("page:search");
  const tag = place("page:tag");
  const count = place("page:count");
  const texts = new Map();

  const textOf = (card) => {
    if (!texts.has(card)) texts.set(card, card.textContent.toLowerCase());
    return texts.get(card);
  };

  const tagsOf = (card) => Array.from(card.querySelectorAll(".tag"), (one) => one.textContent);

  const filter = () => {
    const kinds = Array.from(tools.querySelectorAll("input:checked"), (box) => box.value);
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = tag ? tag.value : "";
    let shown = 0;
    for (const card of cards) {
      const has = card.dataset.kinds.split(" ");
      const fits = kinds.every((kind) => has.includes(kind))
        && (!wanted || tagsOf(card).includes(wanted))
        && words.every((word) => textOf(card).includes(word));
      card.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${cards.length} ${cards.length === 1 ? "case" : "cases"} shown`;
  };

  const reset = () => {
    tools.reset();
    filter();
  };

  const reveal = () => {
    const hash = location.hash.slice(1);
    let target = place(hash);
    if (!target) {
      try { target = place(decodeURIComponent(hash)); } catch { target = null; }
    }
    if (!target) return;
    const card = target.closest("article.card");
    if (card && card.hidden) reset();
    for (let box = target; box; box = box.parentElement) {
      if (box.tagName === "DETAILS") box.open = true;
    }
    target.scrollIntoView();
    target.focus({ preventScroll: true });
  };

  const unfold = (open) => {
    const roots = cards.length ? cards.filter((card) => !card.hidden) : [document];
    for (const root of roots) {
      for (const box of root.querySelectorAll("details")) box.open = open;
    }
  };

  if (tools) {
    let wait = 0;
    tools.hidden = false;
    tools.addEventListener("submit", (event) => event.preventDefault());
    tools.addEventListener("change", filter);
    tools.addEventListener("reset", () => setTimeout(filter));
    search.addEventListener("input", () => {
      clearTimeout(wait);
      wait = setTimeout(filter, 120);
    });
    search.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      search.value = "";
      filter();
    });
    place("page:expand").addEventListener("click", () => unfold(true));
    place("page:collapse").addEventListener("click", () => unfold(false));
    filter();
  }
  // A link to where the address already points changes no address, and so makes no event.
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) reveal();
  });
  // What is folded is printed all the same, also where the style sheet cannot see to that.
  let unfolded = [];
  const beforePrint = () => {
    unfolded = Array.from(document.querySelectorAll("details:not([open])"));
    for (const box of unfolded) box.open = true;
  };
  const afterPrint = () => {
    for (const box of unfolded) box.open = false;
    unfolded = [];
  };
  addEventListener("beforeprint", beforePrint);
  addEventListener("afterprint", afterPrint);
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
})();
