"use strict";
document.getElementById("copy")?.addEventListener("click", async () => {
  const text = document.getElementById("text"), said = document.getElementById("copied");
  try {
    await navigator.clipboard.writeText(text.value);
    said.textContent = "Copied.";
  } catch {
    text.select();
    said.textContent = "It is selected: copy it with Ctrl+C.";
  }
});
