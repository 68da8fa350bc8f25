// The theme that the person chose. This script sets the theme before the first paint; the menu changes it.
"use strict";

{
  const stored = () => {
    try {
      return localStorage.getItem("theme") ?? "auto";
    } catch {
      return "auto"; // without storage, use the theme of the system
    }
  };
  const show = (theme) => {
    document.documentElement.dataset.theme = theme;
    for (const button of document.querySelectorAll("[data-choose-theme]")) {
      button.setAttribute("aria-pressed", String(button.dataset.chooseTheme === theme));
    }
  };
  show(stored());
  document.addEventListener("DOMContentLoaded", () => show(stored()));
  document.addEventListener("click", (event) => {
    const theme = event.target.closest("[data-choose-theme]")?.dataset.chooseTheme;
    if (!theme) return;
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // Without storage, the choice lasts for this page only.
    }
    show(theme);
  });
}
