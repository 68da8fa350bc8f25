// The search box: it shows hits, and actions of the page, while someone types.
"use strict";

{
  const form = document.querySelector("form[data-hits]");
  const box = document.getElementById("ui-search-term");
  const panel = document.getElementById("ui-hits");
  const count = document.getElementById("ui-hits-count");
  const DELAY = 150; // milliseconds between the last key and the request
  const MOST_ACTIONS = 8;
  let asked = 0;
  let timer = 0;

  const links = () => [...(panel?.querySelectorAll("[data-hit]") ?? [])];
  const hide = () => {
    asked += 1; // `show` ignores an answer that is still on its way
    if (panel) panel.hidden = true;
  };
  // Return the links and buttons in the page's header whose text contains the term.
  const actions = (term) =>
    [...document.querySelectorAll(".ui-head .ui-actions :is(a, button)")]
      .filter((each) => each.textContent.toLowerCase().includes(term))
      .slice(0, MOST_ACTIONS);

  const showActions = (term) => {
    const found = actions(term);
    if (found.length === 0) return;
    const section = document.createElement("section");
    section.setAttribute("aria-label", "Actions of this page");
    section.append(Object.assign(document.createElement("h2"), { textContent: "Actions of this page" }));
    for (const action of found) {
      const item = Object.assign(document.createElement("button"), {
        type: "button", className: "ui-item", textContent: action.textContent.trim(),
      });
      item.dataset.hit = "";
      item.addEventListener("click", () => {
        hide();
        action.click();
      });
      section.append(item);
    }
    panel.prepend(section);
  };

  const show = async (term) => {
    const number = (asked += 1);
    try {
      const answer = await fetch(`${form.dataset.hits}?q=${encodeURIComponent(term)}`);
      // After a sign-out, the answer is the sign-in page.
      if (!answer.ok || answer.redirected || number !== asked) return;
      panel.innerHTML = await answer.text();
    } catch {
      return; // without an answer the form still works
    }
    if (number !== asked) return;
    showActions(term.toLowerCase());
    panel.hidden = false;
    const found = links().length;
    count.textContent = found === 1 ? "1 result" : `${found} results`;
  };

  const open = () => {
    box.focus();
    box.select();
  };
  box?.addEventListener("input", () => {
    clearTimeout(timer);
    const term = box.value.trim();
    if (term) timer = setTimeout(() => show(term), DELAY);
    else hide();
  });
  form?.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !form.contains(event.relatedTarget)) hide();
  });
  document.addEventListener("click", (event) => {
    if (form && !form.contains(event.target)) hide();
  });

  const isTyping = (target) => target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null;

  const moveThroughHits = (event) => {
    const shown = panel && !panel.hidden ? links() : [...document.querySelectorAll(".bo-hit")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || shown.length === 0) return;
    const place = shown.indexOf(document.activeElement);
    if (place < 0 && isTyping(event.target) && event.target !== box) return;
    event.preventDefault();
    const next = place + step;
    if (next < 0) box.focus();
    else shown[Math.min(next, shown.length - 1)].focus();
  };

  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && box) {
      event.preventDefault();
      open();
      show("");
      return;
    }
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape" && panel && !panel.hidden) {
      event.preventDefault();
      hide();
      box.focus();
      return;
    }
    moveThroughHits(event);
  });
}
