//go:build race

package testsize

const raceDetector = true
