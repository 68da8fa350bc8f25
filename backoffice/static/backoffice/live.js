// The desk and the pages of records update themselves every ten seconds, while they are visible.
"use strict";

{
  const EVERY = 10_000;
  const repeat = (work) => setInterval(() => document.visibilityState === "visible" && work().catch(() => {}), EVERY);
  const read = async (url) => {
    const answer = await fetch(url, { headers: { Accept: "application/json" }, redirect: "error" });
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.json();
  };

  // The desk: update the counts at once, but the rows only while no one uses the table.
  const table = document.querySelector("[data-live-rows]");
  if (table) {
    const body = table.tBodies[0];
    const digests = new Map();
    const isBusy = () => table.matches(":hover") || table.contains(document.activeElement) || table.querySelector("details[open]");
    const show = (changed) => {
      for (const each of document.querySelectorAll("[data-live-total]")) each.textContent = changed.total;
      for (const each of document.querySelectorAll("[data-live-count]")) {
        const count = changed.counts[each.dataset.liveCount];
        if (count !== undefined) each.textContent = count;
      }
      if (isBusy()) return;
      const rows = new Map([...body.rows].map((row) => [row.dataset.row, row]));
      const next = changed.rows.map((row) => {
        digests.set(row.key, row.digest);
        if (!row.html) return rows.get(row.key);
        const holder = document.createElement("template");
        holder.innerHTML = row.html;
        return holder.content.querySelector("tr");
      });
      body.replaceChildren(...next.filter(Boolean));
    };
    repeat(async () => {
      const shown = new Set([...body.rows].map((row) => row.dataset.row));
      const have = [...digests].filter(([key]) => shown.has(key)).map((pair) => pair.join(":")).join(",");
      const asked = new URLSearchParams(location.search);
      asked.set("have", have);
      asked.set("here", location.pathname + location.search);
      if (table.dataset.liveRows === "home") asked.set("home", "1");
      show(await read(`/admin/desk/changes/?${asked}`));
    });
  }

  // A record: show the names of the other operators who look at it.
  const others = document.querySelector("[data-looking-at]");
  if (others) {
    document.querySelector(".ui-head")?.append(others); // visible without scrolling
    const look = async () => {
      const { names } = await read(others.dataset.lookingAt);
      const text = names.length ? `${names.join(", ")} ${names.length > 1 ? "are" : "is"} looking at this page, too.` : "";
      if (others.textContent !== text) others.textContent = text;
    };
    look().catch(() => {});
    repeat(look);
  }
}
