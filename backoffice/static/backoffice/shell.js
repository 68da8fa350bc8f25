"use strict";

// Lists: choose all rows, or with Shift all rows between two clicks. The bulk bar counts the chosen rows.
{
  const boxes = [...document.querySelectorAll("input.action-select")];
  const all = document.getElementById("action-toggle");
  const shown = document.querySelector("[data-chosen-count]");
  const count = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    if (shown) shown.textContent = `${chosen} chosen`;
    if (all) {
      all.checked = chosen === boxes.length;
      all.indeterminate = chosen > 0 && !all.checked;
    }
  };
  let last = -1;
  all?.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
    count();
  });
  for (const [place, box] of boxes.entries()) {
    box.addEventListener("click", (event) => {
      if (event.shiftKey && last >= 0) {
        for (const between of boxes.slice(Math.min(place, last), Math.max(place, last))) between.checked = box.checked;
      }
      last = place;
      count();
    });
  }
  addEventListener("pageshow", count);
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
  const wide = ".ui-card, .ui-scroll, .inline-group, .inline-group .tabular, .readonly";
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

// Apply a changed filter at once. Without JavaScript, the form has a button.
document.addEventListener("change", (event) => {
  if (event.target.matches("form[data-apply-at-once] :is(select, input)")) event.target.form.requestSubmit();
});

// Close an open menu after a click outside the menu.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.ui-menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

// A page whose work is in progress reloads itself, but not while someone types or has a menu open.
{
  const seconds = Number(document.querySelector('meta[name="reload-after"]')?.content ?? 0);
  const busy = () => document.activeElement?.matches("input, textarea, select") || document.querySelector("details.ui-menu[open]");
  if (seconds) setInterval(() => busy() || location.reload(), seconds * 1000);
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

// After an action on a desk row, focus that row, or the next row if that row has gone.
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

// Ignore a second submit of a form: the browser would discard the answer to the first submit. Allow another
// submit after five seconds.
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
    if (foot) foot.textContent = ` Page loaded at ${moment(now, "UTC")} UTC, which is ${moment(now)} in your time zone.`;
    for (const each of document.querySelectorAll("time[datetime]")) {
      each.title = `In your time zone: ${moment(new Date(each.dateTime))}`;
    }
  }
}

// Replace a link to a supplier's picture by the picture, after a click.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-picture]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const picture = new Image(286, 286);
  picture.referrerPolicy = "no-referrer";
  picture.alt = `Picture of ${link.dataset.picture}`;
  picture.onerror = () => link.append(" (the supplier's host does not answer)");
  picture.onload = () => {
    link.replaceChildren(picture);
    link.removeAttribute("data-picture"); // a second click opens the picture in full size
  };
  picture.src = link.href;
});
