package configs

import "github.com/labtuner/tuner/configs/internal/schema"

// What reads a file against the tags of structs is package schema; these are its words.
type (
	// Problem is one thing that is wrong with a file.
	Problem = schema.Problem
	// Error is every problem of one file, sorted by line.
	Error = schema.Error
	// Setting is one key of the effective configuration.
	Setting = schema.Setting
	// KeyDoc documents one key.
	KeyDoc = schema.KeyDoc
	// Range is a closed interval, written as [lo, hi] with lo < hi.
	Range = schema.Range
	// Numbers is a list of numbers, which a file may also write as a single number.
	Numbers = schema.Numbers
)

// NewError sorts problems by line and makes an *Error of them, or nil where there are none.
// It is for merging the problems that packages find in their own keys with those of the file.
func NewError(problems ...Problem) error { return schema.NewError(problems...) }

// ReferenceOf documents the keys of a struct, such as a driver's options, under a section's
// name such as "[[device]]". What options holds, a pointer to it, are the defaults.
func ReferenceOf(section string, options any) []KeyDoc {
	return schema.ReferenceOf(section, options, nil, nil)
}

// Nearest returns the word among candidates that is closest to what was written, or "" where
// none is close enough to be what was meant.
func Nearest(word string, candidates []string) string { return schema.Nearest(word, candidates) }

// IsSecretKey says that a key, by its last word, holds a secret: password, a token and the
// like, not where one is kept (password_file).
func IsSecretKey(key string) bool { return schema.IsSecretKey(key) }
