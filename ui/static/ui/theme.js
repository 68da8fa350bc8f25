// The theme that the person chose: set before the first paint, and changed from the person's menu.
"use strict";

{
  const stored = () => {
    try {
      return localStorage.getItem("theme") ?? "auto";
    } catch {
      return "auto"; // without storage the theme is the system's
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
      // Without storage the choice lasts for this page.
    }
    show(theme);
  });
}
