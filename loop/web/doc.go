// Package web shows a run: as a page that a running tuner serves (the dashboard) and as
// one HTML file made from a journal (the report). Both are drawn by the same renderer,
// plain JavaScript in page/, from the same Document.
//
//	journal ──┐
//	          ├─> Collect ─> Document ─┬─> WriteReport: one file, everything inside
//	picture ──┘                        └─> /api/document, renewed over /api/stream
//
// Nothing is loaded from anywhere else, and no knob can be turned from the page.
package web
