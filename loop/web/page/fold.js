"use strict";
// Parts of the page that are folded until someone opens them. What nobody sees is not made; paper has all.

class Fold {
  constructor(id, title, ...content) {
    this.id = id;
    this.body = h("div", null, content);
    this.note = h("span", { class: "note" });
    this.details = h("details", { class: "fold", id: "fold-" + id, ontoggle: () => this.fill() }, h("summary", null, h("h2", { id }, title), this.note), this.body);
    this.element = h("section", { "aria-labelledby": id }, this.details);
  }

  // update takes what makes the content, which is made when it is open, and a few words to stand beside the title.
  update(make, note = "") {
    this.make = make;
    if (this.note.textContent !== note) this.note.textContent = note;
    this.fill();
  }

  fill() {
    if (!this.details.open || !this.make) return;
    const make = this.make;
    this.make = null;
    make(this.body);
  }

  // paper opens it to be printed, and folds it again.
  paper(on) {
    if (on === this.printed) return;
    this.printed = on;
    if (on) this.was = this.details.open;
    this.details.open = on || this.was;
    this.fill();
  }
}
