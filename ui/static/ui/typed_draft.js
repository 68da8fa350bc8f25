// Put kept text back into the form of its page. The values that the old page showed come back, too, so the
// service notices if someone changed the same field meanwhile.
"use strict";

{
  const kept = JSON.parse(document.getElementById("ui-typed-fields")?.textContent ?? "{}");
  const isShownValue = (name) => name.startsWith("initial-") || name === "shown" || name === "seen_effect";
  const names = Object.keys(kept);
  const forms = [...document.querySelectorAll("form[method=post]:not([data-kept-text])")];
  const count = (form) => names.filter((name) => form.elements[name]).length;
  const form = forms.sort((one, other) => count(other) - count(one))[0];
  for (const name of names) {
    const all = form ? [...form.elements].filter((each) => each.name === name) : [];
    for (const [index, each] of all.entries()) {
      if (each.type === "file" || each.type === "password") continue;
      if (each.type === "hidden" && !isShownValue(name)) continue;
      if (each.type === "checkbox" || each.type === "radio") each.checked = kept[name].includes(each.value);
      else if (each.multiple) for (const option of each.options) option.selected = kept[name].includes(option.value);
      else if (kept[name].length > 0) each.value = kept[name][index] ?? kept[name][0];
      each.closest("details")?.setAttribute("open", "");
    }
  }
}
