// A field for the name of a record: it proposes names while someone types. Without this script, people type
// the name.
"use strict";

{
  const DELAY = 150; // milliseconds between the last key and the request
  let timer = 0;
  let newest = 0;

  const propose = async (box) => {
    const number = (newest += 1);
    try {
      const answer = await fetch(`${box.dataset.choices}&term=${encodeURIComponent(box.value)}`);
      // After a sign-out, the answer is the sign-in page.
      if (!answer.ok || answer.redirected || number !== newest) return;
      const { results } = await answer.json();
      box.list.replaceChildren(...results.map((record) => new Option("", `${record.text} (id ${record.id})`)));
    } catch {
      return; // without proposals the typed text still counts
    }
  };

  const start = (box) => {
    if (!box?.matches?.("input[data-choices]")) return;
    const isChosen = [...box.list.options].some((option) => option.value === box.value);
    clearTimeout(timer);
    if (!isChosen) timer = setTimeout(() => propose(box), DELAY);
  };
  document.addEventListener("input", (event) => start(event.target));
  document.addEventListener("focusin", (event) => start(event.target));
  start(document.activeElement); // the first field of a form gets the focus before this script runs
}
