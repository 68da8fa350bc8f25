// Pages of files that are imported from here: a file that is too large is refused before it is sent, and what
// the first rows become is shown anew with each change of the mapping.
"use strict";

for (const file of document.querySelectorAll("input[type=file][data-most]")) {
  file.addEventListener("change", () => {
    const tooLarge = file.files.length > 0 && file.files[0].size > Number(file.dataset.most);
    file.setCustomValidity(tooLarge ? "It is too large to be sent from here. Pack it, or use the upload area." : "");
    file.reportValidity();
  });
  file.form.addEventListener("submit", (event) => {
    if (!file.reportValidity()) event.preventDefault();
  });
}

{
  const form = document.getElementById("bo-draft");
  const shown = document.getElementById("bo-preview");
  let waiting = 0;
  let asked = 0;

  const ask = async () => {
    const mine = ++asked;
    shown.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(form.dataset.preview, { method: "POST", body: new FormData(form) });
      if (answer.ok && mine === asked) shown.innerHTML = await answer.text();
    } catch {
      // It stays as it is; "Keep, and show again" asks without this.
    }
    if (mine === asked) shown.removeAttribute("aria-busy");
  };

  const soon = (event) => {
    if (["mapping", "name"].includes(event.target.name)) return;
    clearTimeout(waiting);
    waiting = setTimeout(ask, event.type === "input" ? 400 : 0);
  };
  form?.addEventListener("change", soon);
  form?.addEventListener("input", soon);
  // Who presses Enter in a field wants to see, not to try.
}
