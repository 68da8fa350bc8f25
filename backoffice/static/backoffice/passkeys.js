"use strict";
// Show passkey errors on the page: allauth writes them only to the console.
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const trouble = document.getElementById("passkey-trouble");
  const name = event.detail.exception && event.detail.exception.name;
  trouble.textContent =
    name === "InvalidStateError" ? "This device is already set up."
    : name === "NotAllowedError" ? "The device did not answer, or you did not confirm. Try again."
    : name === "SecurityError" ? "Passkeys need HTTPS and a host name, or localhost. Open this page by its host name."
    : "Your browser could not use a passkey on this page. Use a code instead.";
  trouble.hidden = false;
});
