"use strict";
// What went wrong with a passkey, in words: by itself it would stand in the console, where nobody looks.
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const trouble = document.getElementById("passkey-trouble");
  const name = event.detail.exception && event.detail.exception.name;
  trouble.textContent =
    name === "InvalidStateError" ? "This device is set up already."
    : name === "NotAllowedError" ? "The device did not answer, or you did not confirm. Try again."
    : name === "SecurityError" ? "Passkeys need HTTPS and a host name, or localhost: not a bare address."
    : "Your browser could not use a passkey here.";
  trouble.hidden = false;
});
