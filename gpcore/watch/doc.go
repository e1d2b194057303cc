// Package watch keeps the posterior at fixed points up to date while a process changes, at
// O(n) a point and change instead of O(n^2).
//
// [New] makes a [Watch], [Watch.Update] takes up what has changed and returns means and
// variances. The rest divides an update among goroutines: [Watch.Sync] once, then
// [Watch.UpdatePart] for parts of the points, then [Watch.Moments].
package watch
