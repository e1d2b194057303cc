package thiscomputer

import (
	"math/rand/v2"
	"slices"
)

// corpusSize is the amount of text that jobs take their input from, in bytes.
const corpusSize = 4 << 20

// corpusSeed makes the text the same on every machine and in every run.
const corpusSeed = 20240229

// corpus makes text with the redundancy of a lab's log files: sentences of a
// vocabulary whose words come with Zipf's frequencies, time stamps, numbers
// that resemble their predecessors, and now and then a block that came before.
func corpus(size int) []byte {
	rng := rand.New(rand.NewPCG(corpusSeed, 1))
	words := vocabulary(rng, 4000)
	pick := zipf(len(words))
	text := make([]byte, 0, size+4096)
	seconds, reading := uint32(0), 500
	for len(text) < size {
		switch p := rng.IntN(100); {
		case p < 12 && len(text) > 1<<15:
			// A passage again, from as far back as a compressor can see and beyond.
			length := 80 + rng.IntN(600)
			from := len(text) - 1 - rng.IntN(min(len(text)-1, 1<<17))
			text = append(text, text[from:min(from+length, len(text))]...)
		case p < 45:
			seconds += rng.Uint32N(7)
			reading += rng.IntN(21) - 10
			text = append(text, "2024-02-29T"...)
			text = appendClock(text, seconds)
			text = append(text, " ch"...)
			text = appendDigits(text, rng.IntN(8), 1)
			text = append(text, " value="...)
			text = appendDigits(text, max(0, reading), 4)
			text = append(text, '.')
			text = appendDigits(text, rng.IntN(1000), 3)
			text = append(text, '\n')
		default:
			for range 6 + rng.IntN(12) {
				text = append(text, words[pick(rng)]...)
				text = append(text, ' ')
			}
			text[len(text)-1] = '\n'
		}
	}
	return text[:size]
}

// zipf draws ranks below n with frequencies as 1/(rank+4), in whole numbers, so
// that it draws the same on every processor.
func zipf(n int) func(*rand.Rand) int {
	sums := make([]uint64, n)
	total := uint64(0)
	for i := range sums {
		total += (1 << 40) / uint64(i+4)
		sums[i] = total
	}
	return func(rng *rand.Rand) int {
		rank, _ := slices.BinarySearch(sums, rng.Uint64N(total)+1)
		return rank
	}
}

// vocabulary makes pronounceable words, the short ones first, as in a language
// where frequent words are short.
func vocabulary(rng *rand.Rand, n int) []string {
	const consonants, vowels = "bcdfghklmnprstvw", "aeiou"
	words := make([]string, n)
	for i := range words {
		syllables := 1 + (i*4)/n + rng.IntN(2)
		var w []byte
		for range syllables {
			w = append(w, consonants[rng.IntN(len(consonants))], vowels[rng.IntN(len(vowels))])
			if rng.IntN(3) == 0 {
				w = append(w, consonants[rng.IntN(len(consonants))])
			}
		}
		words[i] = string(w)
	}
	return words
}

// appendClock appends hours, minutes and seconds of a day.
func appendClock(text []byte, seconds uint32) []byte {
	text = appendDigits(text, int(seconds/3600%24), 2)
	text = append(text, ':')
	text = appendDigits(text, int(seconds/60%60), 2)
	text = append(text, ':')
	return appendDigits(text, int(seconds%60), 2)
}

// appendDigits appends v with leading zeros, at most its last width digits.
func appendDigits(text []byte, v, width int) []byte {
	for place := width - 1; place >= 0; place-- {
		digit := v
		for range place {
			digit /= 10
		}
		text = append(text, byte('0'+digit%10))
	}
	return text
}
