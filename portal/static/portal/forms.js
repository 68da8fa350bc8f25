// Ignore a second submit of a form for two seconds. Then the form works again, because the page stays open
// if the answer is a file.
"use strict";

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.isSent) {
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  form.dataset.isSent = "1";
  setTimeout(() => delete form.dataset.isSent, 2000);
}, true);
