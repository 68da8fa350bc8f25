// Keyboard shortcuts: for the rows of a table, the search and the first action.
"use strict";

{
  const isTyping = (target) => target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null;
  const rows = () => [...document.querySelectorAll("main .ui-table tbody tr")].filter((row) => row.querySelector("a"));
  const rowOf = (target) => target.closest?.("main .ui-table tbody tr");
  const mainLink = (row) => row?.querySelector("th a, td a");

  // Focus the search of the whole site. On a page without that search, focus the search of the list.
  const search = () => {
    const box = document.getElementById("ui-search-term") ?? document.querySelector("main input[type=search]");
    box?.focus();
    box?.select();
  };
  const goToRow = (step) => {
    const all = rows();
    const place = all.indexOf(rowOf(document.activeElement));
    const next = place < 0 ? 0 : Math.min(Math.max(place + step, 0), all.length - 1);
    mainLink(all[next])?.focus();
  };
  const firstAction = () => {
    const row = rowOf(document.activeElement);
    const within = row ?? document.querySelector(".ui-head .ui-actions");
    within?.querySelector(".ui-button:not(.ui-danger)")?.focus();
  };
  const KEYS = {
    "/": search,
    "?": () => document.getElementById("ui-keys")?.togglePopover(),
    j: () => goToRow(1),
    k: () => goToRow(-1),
    o: () => mainLink(rowOf(document.activeElement))?.click(),
    x: () => rowOf(document.activeElement)?.querySelector("input[type=checkbox]")?.click(),
    e: firstAction,
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
