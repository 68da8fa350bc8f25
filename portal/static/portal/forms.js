// A double click sends a form once. A form that answers with a file can be sent again after two seconds.
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
