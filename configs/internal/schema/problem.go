package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a configuration file.
type Problem struct {
	// File is the file's name, as given to Load or Parse.
	File string
	// Line counts from one; 0 means unknown.
	Line int
	// Key is the key at fault, "" where there is none.
	Key string
	// What is wrong, with the value and the bound.
	What string
	// Hint says what to do about it; it may be empty.
	Hint string
}

// String gives FILE:LINE: key: what. Parts that are unknown are left out; the
// hint is not part of it.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d", p.Line)
		}
		b.WriteString(": ")
	}
	if p.Key != "" {
		b.WriteString(p.Key)
		b.WriteString(": ")
	}
	b.WriteString(p.What)
	return b.String()
}

// Error is every problem of one file, sorted by line.
type Error struct {
	Problems []Problem
	// Cause is the file system's error where the file could not be read.
	Cause error
}

// NewError sorts problems by line and makes an error of them, or nil where there
// are none. It is for merging the problems that drivers find in their own keys
// with those of the file.
func NewError(problems ...Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return &Error{Problems: Sorted(problems)}
}

// Error gives one line for each problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the file system's error where the file could not be read.
func (e *Error) Unwrap() error { return e.Cause }

// Sorted orders by line; problems of one line keep the order in which they were
// found, which is the order of the schema.
func Sorted(problems []Problem) []Problem {
	s := slices.Clone(problems)
	slices.SortStableFunc(s, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return s
}
