// Grids of products and stock: arrow keys, pasted columns of a spreadsheet, and a save that keeps the focus.
"use strict";

{
  const cellsOf = (input) => {
    const column = input.name.slice(input.name.indexOf("-") + 1);
    return [...input.form.elements].filter((each) => each.name.slice(each.name.indexOf("-") + 1) === column && each.type !== "hidden");
  };
  const inGrid = (target) => target.closest?.("form.ui-grid tbody input:not([type=hidden])");

  document.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const input = inGrid(event.target);
    if (!step || !input || input.type === "date" || event.altKey) return;
    const cells = cellsOf(input);
    const next = cells[cells.indexOf(input) + step];
    event.preventDefault(); // an arrow key would change the value of a number field
    next?.focus();
    next?.select();
  });

  // A pasted column fills the rows from this cell down. Other text is pasted as usual.
  document.addEventListener("paste", (event) => {
    const input = inGrid(event.target);
    const lines = event.clipboardData?.getData("text").replace(/\r?\n$/, "").split(/\r?\n/) ?? [];
    if (!input || lines.length < 2) return;
    event.preventDefault();
    const cells = cellsOf(input);
    const first = cells.indexOf(input);
    for (const [place, line] of lines.entries()) {
      const cell = cells[first + place];
      if (cell) cell.value = line.split("\t")[0].trim();
    }
    cells[Math.min(first + lines.length, cells.length) - 1].focus();
  });

  const showMessages = (list) => {
    document.querySelector("main > .ui-messages")?.remove();
    list?.setAttribute("role", "status");
    if (list) document.getElementById("content").before(list);
  };
  const refuse = (form, button, reason) => {
    const list = document.createElement("ul");
    list.className = "ui-messages";
    const message = list.appendChild(document.createElement("li"));
    message.className = "ui-alert ui-bad";
    message.textContent = `Not saved: ${reason}. Your changes are still here. Save them again.`;
    showMessages(list);
    list.scrollIntoView({ block: "nearest" });
    button.disabled = false;
    delete form.dataset.isSent; // forms.js would ignore the next press for two seconds
  };

  // Saving updates the rows in place: the page keeps its position, and the cell keeps its focus.
  const save = async (form, button) => {
    const sent = new FormData(form, button);
    const focused = document.activeElement?.name;
    button.disabled = true;
    let answer, text;
    try {
      answer = await fetch(form.action, { method: "POST", body: sent });
      text = await answer.text();
    } catch {
      refuse(form, button, "the service cannot be reached");
      return;
    }
    if (answer.status >= 400 && answer.status !== 403) {
      refuse(form, button, `the service answered ${answer.status}`);
      return;
    }
    const page = new DOMParser().parseFromString(text, "text/html");
    if (new URL(answer.url).pathname !== location.pathname) {
      location.href = answer.url; // for example the sign-in page, which keeps the typed text
      return;
    }
    const content = page.getElementById("content");
    if (answer.status === 403 || !content) {
      location.reload(); // after a refused token, for example: this page then shows the typed text
      return;
    }
    document.getElementById("content").innerHTML = content.innerHTML; // a save can empty the list
    showMessages(page.querySelector("main > .ui-messages"));
    document.querySelector(`form.ui-grid [name="${CSS.escape(focused ?? "")}"]`)?.focus();
  };
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form.ui-grid");
    if (!form || !event.submitter) return;
    event.preventDefault();
    save(form, event.submitter);
  });
}
