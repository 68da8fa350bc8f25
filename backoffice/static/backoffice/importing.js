// Import pages: refuse files that are too large, upload large files in chunks, and refresh the preview
// after each change of the mapping.
"use strict";

for (const file of document.querySelectorAll("input[type=file][data-most]")) {
  const form = file.form;
  const shown = document.getElementById("bo-sending");
  const bar = shown.querySelector("progress");
  const said = shown.querySelector("[role=status]");
  const button = form.querySelector("[type=submit]");
  const chunkSize = Number(file.dataset.chunk);
  const megabytes = (bytes) => (bytes / 1024 ** 2).toFixed(bytes < 10 * 1024 ** 2 ? 1 : 0);

  file.addEventListener("change", () => {
    const tooLarge = file.files.length > 0 && file.files[0].size > Number(file.dataset.most);
    file.setCustomValidity(tooLarge ? "The file is too large for the browser. Pack it, or use the upload area." : "");
    file.reportValidity();
  });

  // Retry a failed request after a pause. Do not retry a refused request.
  const send = async (chunk, position) => {
    for (let pause = 1; ; pause *= 2) {
      const body = new FormData();
      body.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
      body.set("upload", form.elements.upload.value);
      body.set("position", position);
      body.set("chunk", chunk, "chunk");
      const answer = await fetch(form.dataset.chunks, { method: "POST", body }).catch(() => null);
      if (answer?.ok) return;
      const refused = answer && answer.status < 500 && answer.status !== 429;
      if (refused || pause > 16) {
        const why = await answer?.json().catch(() => null);
        throw new Error(why?.message ?? "The upload failed. Try again.");
      }
      await new Promise((resume) => setTimeout(resume, pause * 1000));
    }
  };

  const sendAll = async (whole) => {
    const count = Math.ceil(whole.size / chunkSize);
    for (let position = 0; position < count; position += 1) {
      const sent = position * chunkSize;
      bar.value = (100 * sent) / whole.size;
      said.textContent = `${megabytes(sent)} of ${megabytes(whole.size)} MB sent`;
      await send(whole.slice(sent, sent + chunkSize), position);
    }
    bar.value = 100;
    said.textContent = "Upload complete. The file is being read.";
    form.elements.chunks.value = count;
    form.elements.name.value = whole.name.slice(-200);
    file.disabled = true;
    form.submit();
  };

  form.addEventListener("submit", async (event) => {
    if (!file.reportValidity()) {
      event.preventDefault();
      return;
    }
    const whole = file.files[0];
    if (!whole || whole.size <= chunkSize) return;
    event.preventDefault();
    shown.hidden = false;
    button.disabled = true;
    try {
      await sendAll(whole);
    } catch (error) {
      said.textContent = error.message;
      button.disabled = false;
    }
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
      // Keep the old preview. The button refreshes it without a script.
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
}
