package control

import "github.com/labtuner/tuner/loop/journal"

// DeviceStatus is how one device stands: up to Retries failures within the window of the
// file are mended unseen.
type DeviceStatus struct {
	Name string `json:"name"`
	// Out says that its last call failed, for how long. Held says that its budget is
	// spent, and the run is held for it.
	Out    bool           `json:"out"`
	OutFor journal.Number `json:"out_for_s"`
	Held   bool           `json:"held"`
	// Failures of Retries within Window have been seen; Trouble is the last one's words.
	Failures int            `json:"failures"`
	Retries  int            `json:"retries"`
	Window   journal.Number `json:"window_s"`
	Trouble  string         `json:"trouble"`
}

// DiskStatus is how the record stands.
type DiskStatus struct {
	// Due counts the records that wait to be written, Held says that the run waits for
	// them or for space, and Problem why.
	Due     int    `json:"due"`
	Held    bool   `json:"held"`
	Problem string `json:"problem"`
	// Free and Least are the bytes that are free and those that must be; Free is null
	// where nobody has looked.
	Free  journal.Number `json:"free_bytes"`
	Least journal.Number `json:"least_bytes"`
}

// ComparisonStatus is how the recommended setting's re-measuring against the starting one
// stands: while Running, and what came of it. Its steps are no part of the search.
type ComparisonStatus struct {
	// Running says that Setting ("recommended" or "start") is being measured for the pair
	// Pair of Pairs.
	Running bool   `json:"running"`
	Pair    int    `json:"pair"`
	Pairs   int    `json:"pairs"`
	Setting string `json:"setting"`
	// Verdict (see Verification) and Words tell the result, "" before it.
	Verdict string `json:"verdict"`
	Words   string `json:"words"`
	// Why says why nothing was compared, "" where it is or was.
	Why string `json:"why"`
}
