package simulator

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/control"
)

// strike begins a fault.
func (w *world) strike(f *fault) {
	w.note("fault: %v", f)
	w.witness.disturbed(f)
	switch f.kind {
	case netCut:
		w.broker.Cut()
	case netHang:
		w.eachLine(func(l *line) { l.breaks(true) })
	case netTuner:
		w.ofTuner(func(l *line) { l.breaks(false) })
	case netPlant:
		w.site.breaks(false)
	case holeTuner:
		w.ofTuner((*line).swallow)
	case holePlant:
		w.site.swallow()
	case netSlow:
		w.eachLine(func(l *line) { l.delay(3 * w.pace.tick) })
	case oldReading, twice, garbled, retained, oldSet:
		w.say(f)
	case doorOpens:
		w.witness.setDoor(doorOpen, true)
	case doorMute:
		w.witness.setDoor(doorShut, false)
	case wallJump:
		w.wall.jump(time.Duration(int64(f.pick)%int64(400*24*time.Hour)) / 2)
	case diskFull:
		w.fillDisk(w.roomOf(f))
	case diskFullAt:
		w.armDisk(f.failpoint(), w.roomOf(f))
	case diskSlow:
		w.drags(w.pace.dragOf(f))
	case pumpFails:
		w.witness.setPump(f.pumpMood())
	default:
		w.strikeProcess(f)
	}
}

// strikeProcess begins a fault of the process.
func (w *world) strikeProcess(f *fault) {
	p := w.now
	switch {
	case f.kind == policySlow:
		w.setMood(moodSlow)
	case f.kind == policyHung:
		w.setMood(moodHung)
	case f.kind == policyDies:
		w.setMood(moodPanic)
	case f.kind == killAt:
		w.arm(f.failpoint(), "", 0)
	case f.kind == stall:
		w.arm("", f.failpoint(), f.long)
	case p == nil:
	case f.kind == kill:
		w.kill()
	case f.kind == terminate:
		p.cancel()
	case f.kind == cmdPause:
		p.command(control.CommandPause)
	case f.kind == cmdResume:
		p.command(control.CommandResume)
	case f.kind == cmdStop:
		p.command(control.CommandStop)
	case f.kind == cmdReset:
		p.command(control.CommandReset)
	}
}

// heal ends a fault.
func (w *world) heal(f *fault) {
	w.note("over: %v", f)
	w.witness.healed(f)
	switch f.kind {
	case netCut:
		w.broker.Restore()
	case netHang:
		w.eachLine((*line).mend)
	case netTuner:
		w.ofTuner((*line).mend)
	case netPlant:
		w.site.mend()
	case holeTuner:
		w.ofTuner((*line).flow)
	case holePlant:
		w.site.flow()
	case netSlow:
		w.eachLine(func(l *line) { l.delay(0) })
	case retained:
		for _, topic := range []string{stateTopic, setTopic("a"), setTopic("b")} {
			w.publish(topic, "", true)
		}
	case doorOpens, doorMute:
		w.witness.setDoor(doorShut, true)
	case policySlow, policyHung, policyDies:
		w.setMood(moodGood)
	case stall:
		w.arm("", "", 0)
	case killAt:
		w.spare()
	case diskFull:
		w.emptyDisk()
	case diskFullAt:
		w.armDisk("", 0)
		w.emptyDisk()
	case diskSlow:
		w.drags(0)
	case pumpFails:
		w.witness.setPump(pumpWell)
	}
}

func (w *world) ofTuner(do func(*line)) {
	if w.now != nil {
		do(w.now.line)
	}
}

func (w *world) eachLine(do func(*line)) {
	do(w.site)
	w.ofTuner(do)
}

// say puts something on the broker that neither side has said now.
func (w *world) say(f *fault) {
	w.mu.Lock()
	pick := func(list []string, i uint64) string {
		if len(list) == 0 {
			return "{}"
		}
		return list[i%uint64(len(list))]
	}
	knob, states := knobs[f.pick%2], w.heard[""]
	state, last, set := pick(states, f.pick), pick(states, uint64(max(len(states), 1)-1)), pick(w.heard[knob], f.pick)
	w.mu.Unlock()
	switch f.kind {
	case oldReading:
		w.publish(stateTopic, state, false)
	case twice:
		w.publish(stateTopic, last, false)
	case oldSet:
		w.publish(setTopic(knob), set, false)
	case retained:
		w.publish(stateTopic, state, true)
		w.publish(setTopic(knob), set, true)
	case garbled:
		cut := last[:int(f.pick%uint64(len(last)+1))]
		for _, topic := range []string{stateTopic, setTopic(knob), "lab/" + knob + "/taken", statusTopic} {
			w.publish(topic, cut, false)
			w.publish(topic, fmt.Sprintf("\xff%d\x00{\"a\":1e999,\"seq\":-1}", f.pick), false)
		}
	}
}

func (w *world) publish(topic, text string, keep bool) {
	if err := w.broker.Publish(topic, []byte(text), keep); err != nil {
		w.t.Errorf("publish to %q: %v", topic, err)
	}
}

func (w *world) setMood(m mood) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moods = m
}

func (w *world) mood() mood {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.moods
}

// arm sets what happens at the next failpoint of a name.
func (w *world) arm(killer, stalls string, pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if killer != "" {
		w.killer = killer
		return
	}
	w.stalls, w.pause = stalls, pause
}

// spare takes back the order to kill.
func (w *world) spare() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.killer = ""
}

// armDisk has the disk full from the next failpoint of a name on.
func (w *world) armDisk(at string, room uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fillsAt, w.room = at, room
}

// at says what happens at a failpoint, once.
func (w *world) at(name string) (stall time.Duration, kill bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.killer == name {
		w.killer = ""
		return 0, true
	}
	if w.stalls == name {
		stall, w.stalls = w.pause, ""
	}
	if w.fillsAt == name {
		w.fillsAt = ""
		w.fillDisk(w.room)
	}
	return stall, false
}
