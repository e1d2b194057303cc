package control

import (
	"sync/atomic"
	"time"

	"github.com/labtuner/tuner/loop/journal"
)

// Picture is what the model believes, as numbers that can be drawn: in the user's
// units and sense (Bound is the pessimistic one: an upper one where the user minimises).
type Picture struct {
	// Best is the recommended setting; nil before the first valid step.
	Best *PicturePoint `json:"best"`
	// Start describes the objective at the starting setting; nil if that is not known.
	Start *PictureEstimate `json:"start"`
	// Slices go through the recommended setting, one for each variable it sets.
	Slices []PictureSlice `json:"slices"`
	// Sets has, for each control set, the best of the settings that it has played, nil
	// where it has none.
	Sets []*PicturePoint `json:"sets"`
}

// PictureEstimate is what the model says of the objective at one setting.
type PictureEstimate struct {
	Mean journal.Number `json:"mean"`
	// SD is the standard deviation of Mean, NoiseSD that of one shot.
	SD      journal.Number `json:"sd"`
	NoiseSD journal.Number `json:"noise_sd"`
	// Bound is the pessimistic bound of the (mean-variance) objective.
	Bound journal.Number `json:"bound"`
	// Feasibility is the probability that every constraint holds; null without any.
	Feasibility journal.Number `json:"feasibility"`
}

// PicturePoint is a setting: null for variables that its control set leaves random.
type PicturePoint struct {
	ControlSet int              `json:"control_set"`
	X          []journal.Number `json:"x"`
	Feasible   bool             `json:"feasible"`
	// Variables says what each variable does there, Try which command sets that again, TryAll
	// the same with what is held ("" where nothing is).
	Variables []SettingPart `json:"variables"`
	Try       string        `json:"try"`
	TryAll    string        `json:"try_all"`
	PictureEstimate
}

// PictureSlice is the model along one variable, all others at the recommended setting.
type PictureSlice struct {
	// Variable indexes Options.Variables.
	Variable int              `json:"variable"`
	X        []journal.Number `json:"x"`
	Mean     []journal.Number `json:"mean"`
	SD       []journal.Number `json:"sd"`
	NoiseSD  []journal.Number `json:"noise_sd"`
}

// pictures is where the model's picture is put for those who look at it. It is drawn while
// the instrument moves or is measured, never while a decision is due, and only when
// a viewer has asked for it lately.
type pictures struct {
	// asked is when a picture was asked for last, in nanoseconds since 1970.
	asked   atomic.Int64
	picture atomic.Pointer[Picture]
	// renewed has a token when there is a new one.
	renewed chan struct{}
}

// pictureLapse is how long pictures are still drawn after a viewer has asked for them.
const pictureLapse = 10 * time.Second

// Picture is the newest picture of the model, nil before the first. Asking for it keeps
// pictures being drawn for another ten seconds. PictureRenewed has a token when there is a
// new one; it is for one receiver.
func (p *Panel) Picture(now time.Time) *Picture {
	p.pictures.asked.Store(now.UnixNano())
	return p.pictures.picture.Load()
}

// PictureRenewed is a channel that has a token when there is a new picture.
func (p *Panel) PictureRenewed() <-chan struct{} { return p.pictures.renewed }

// WantsPicture says that a viewer has asked for pictures lately.
func (p *Panel) WantsPicture(now time.Time) bool {
	if p == nil {
		return false
	}
	asked := p.pictures.asked.Load()
	return asked != 0 && now.UnixNano()-asked < int64(pictureLapse)
}

// ShowPicture shows a new picture.
func (p *Panel) ShowPicture(picture *Picture) {
	p.pictures.picture.Store(picture)
	select {
	case p.pictures.renewed <- struct{}{}:
	default:
	}
}
