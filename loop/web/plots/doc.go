// Package plots makes the figures of a run, each from its [web.Document] and from what the model
// says when it is asked:
//
//	journal ─> Document ─┐
//	                     ├─> Draw(kind) ─> figure.Figure ─> SVG, PDF, PNG
//	policy  ─> Model ────┘
//
// kinds.go lists them. Numbers are in the user's units and sense; nothing here changes a run.
package plots
