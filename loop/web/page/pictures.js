"use strict";
// Figures as tuner plot draws them: those that a report carries.

// drawn is a figure of an SVG text, with a button that saves it.
function drawn(base, kind, title, svg) {
  const drawing = document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
  drawing.setAttribute("aria-label", title);
  return h("figure", { id: "picture-" + kind }, drawing,
    h("div", { class: "tools" }, h("button", { type: "button", onclick: () => save(`${base}-${kind}.svg`, "image/svg+xml", svg) }, "Save SVG")));
}

// picturesSection shows the figures that a report carries; a live page has none.
function picturesSection(d) {
  if (!d.figures || !d.figures.length) return h("section");
  const of = (folded) => h("div", { class: "pictures" }, d.figures.filter((f) => Boolean(f.folded) === folded).map((f) => drawn(slug(d.run.name), f.kind, f.title, f.svg)));
  return h("section", { "aria-labelledby": "pictures" }, h("h2", { id: "pictures" }, "Pictures"), of(false),
    d.figures.some((f) => f.folded) ? h("details", null, h("summary", null, "The model over other pairs of variables"), of(true)) : null);
}
