// Package figure draws data as figures for a talk or a paper: axes with units, lines, points with
// error bars, bands, maps and contours, on a light ground, in colours that survive print and
// colour blindness.
//
// A [Figure] is plain data: charts, each with two axes and layers that are drawn in their order.
// [Figure.Write] lays it out for a [Size] and writes SVG, PDF or PNG; all three are drawn by the same
// code on a canvas of points (1/72 inch). Text stays text in SVG and PDF. The same figure gives the
// same bytes.
package figure
