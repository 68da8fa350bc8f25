// The page of a packing slip: show the preview again after each change, without a click.
"use strict";

const form = document.getElementById("bo-slip-form");
const button = document.getElementById("bo-slip-update");
const PAUSE = 700; // milliseconds after the last key

if (form && button) {
  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => form.requestSubmit(button), PAUSE);
  });
}
