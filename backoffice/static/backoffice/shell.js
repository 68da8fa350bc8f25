// Keys of the admin: "/" focuses the search box, arrows select a search result.
"use strict";

{
  const box = document.getElementById("bo-search-term");
  const isTyping = (target) => target.closest("input, textarea, select, [contenteditable]") !== null;

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "/" && !isTyping(event.target)) {
      event.preventDefault();
      box.focus();
      box.select();
      return;
    }
    const hits = [...document.querySelectorAll(".bo-hit")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || hits.length === 0) return;
    const place = hits.indexOf(document.activeElement);
    if (place < 0 && isTyping(event.target) && event.target !== box) return;
    event.preventDefault();
    const next = place + step;
    if (next < 0) box.focus();
    else hits[Math.min(next, hits.length - 1)].focus();
  });
}

// The menu: wide screens remember whether it is open, narrow screens start with it closed.
{
  const button = document.getElementById("bo-menu");
  const narrow = matchMedia("(max-width: 1024px)");
  const kept = () => {
    try {
      return localStorage.getItem("backoffice.menu");
    } catch {
      return null;
    }
  };
  const show = (open) => {
    document.body.classList.toggle("bo-nav-open", open);
    document.body.classList.toggle("bo-nav-closed", !open);
    button.setAttribute("aria-expanded", String(open));
  };
  if (button) {
    const begin = () => show(!narrow.matches && kept() !== "closed");
    begin();
    narrow.addEventListener("change", begin);
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") !== "true";
      show(open);
      try {
        if (!narrow.matches) localStorage.setItem("backoffice.menu", open ? "open" : "closed");
      } catch {
        // Without storage the browser forgets the choice.
      }
    });
  }
}

// Copy buttons: copy the text beside the button and confirm it.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    // Browsers block the clipboard without HTTPS: select the text for copying by hand.
    getSelection().selectAllChildren(button.previousElementSibling);
    button.textContent = "Press Ctrl+C";
  }
});

// Label the date and the time field of a split input.
for (const part of document.querySelectorAll(".vDateField, .vTimeField")) {
  part.setAttribute("aria-label", part.classList.contains("vDateField") ? "Date" : "Time");
}

// Make regions that scroll sideways focusable, and label them.
{
  const wide = ".results, section.module, .module.bo-scroll, .inline-group, .inline-group .tabular, .readonly";
  const mark = () => {
    for (const area of document.querySelectorAll(wide)) {
      if (area.scrollWidth <= area.clientWidth || area.tabIndex === 0) continue;
      area.tabIndex = 0;
      area.setAttribute("role", "region");
      const heading = area.querySelector("h2, caption") ?? area.closest(".form-row")?.querySelector("label");
      const name = heading ? heading.textContent.replace(/:\s*$/, "").trim() : document.title;
      const others = [...document.querySelectorAll("[aria-label]")].map((each) => each.getAttribute("aria-label"));
      const same = others.filter((each) => each === name || each.startsWith(`${name}, `)).length;
      area.setAttribute("aria-label", same ? `${name}, ${same + 1}` : name);
    }
  };
  mark();
  addEventListener("load", mark);
  addEventListener("resize", mark);
}

// Submit the chosen columns as one comma-separated parameter.
for (const form of document.querySelectorAll(".bo-columns-form")) {
  form.addEventListener("submit", () => {
    const chosen = [...form.querySelectorAll("input:checked")].map((box) => box.value);
    form.elements.columns.value = chosen.join(",");
  });
}

// Label autocomplete fields: select2 leaves them without a name.
{
  const name = () => {
    for (const select of document.querySelectorAll("select.admin-autocomplete")) {
      const text = select.labels[0]?.textContent.replace(":", "").trim() ?? select.name;
      const box = select.nextElementSibling;
      for (const part of box?.querySelectorAll(".select2-selection, .select2-selection__rendered") ?? []) {
        part.setAttribute("aria-label", text);
      }
    }
  };
  // select2 creates them after the page has loaded, and for each added row.
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
  name();
}

// Escape closes the innermost open details element, and moves the focus to its summary.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented) return;
  const open = document.activeElement?.closest("details[open]");
  if (!open) return;
  event.preventDefault();
  open.open = false;
  open.querySelector("summary").focus();
});

// After an action on a desk row, focus that row, or the next one if the row has gone.
{
  const rows = () => [...document.querySelectorAll(".bo-desk tbody tr")];
  const keep = (event) => {
    const row = event.target.closest?.(".bo-desk tbody tr");
    if (!row || event.target.closest("summary")) return;
    try {
      sessionStorage.setItem("backoffice.row", JSON.stringify([location.pathname, rows().indexOf(row)]));
    } catch {
      // Without storage the focus starts at the top.
    }
  };
  document.addEventListener("submit", keep);
  document.addEventListener("click", (event) => {
    if (event.target.closest("a")) keep(event);
  });

  try {
    const [path, place] = JSON.parse(sessionStorage.getItem("backoffice.row")) ?? [];
    if (path === location.pathname) {
      sessionStorage.removeItem("backoffice.row");
      rows().slice(0, place + 1).pop()?.querySelector("a")?.focus();
    }
  } catch {
    // Without storage the focus starts at the top.
  }
}

// Ignore a second click on a submitting form: it would discard the answer to the first. Allow it after some
// seconds.
{
  const sent = new WeakMap();
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented || event.target.method !== "post") return;
    if (event.timeStamp - (sent.get(event.target) ?? -Infinity) < 5000) event.preventDefault();
    else sent.set(event.target, event.timeStamp);
  });
}

// Show the local time beside UTC, in the footer and as a tooltip of each time.
{
  const moment = (when, zone) =>
    when.toLocaleString("en-GB", { timeZone: zone, day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  const now = new Date();
  if (now.getTimezoneOffset() !== 0) {
    const foot = document.getElementById("bo-here");
    if (foot) foot.textContent = ` This page is of ${moment(now, "UTC")}; on your clock, ${moment(now)}.`;
    for (const each of document.querySelectorAll("time[datetime]")) {
      each.title = `On your clock: ${moment(new Date(each.dateTime))}`;
    }
  }
}
