package safety

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// checked has one of everything that Check looks at, each at the edge of what may be.
func checked() Limits {
	l := wide()
	l.Tick = time.Second
	l.Variables[0].Lease = 3 * time.Second
	l.Responses[0].Sensor = 0
	l.Duties = []DutyLimits{{Fraction: 0.5, Window: dutyParts * time.Second}}
	l.Bypasses = []Bypass{{Rule: RuleStale}}
	l.Variables = append(l.Variables, VariableLimits{Dose: true, High: 5, Resolution: 5, OnFault: RestOff, Shutdown: RestHold})
	l.Doses = append(l.Doses, DoseLimits{Variable: 1, PerDose: 1e-9})
	return l
}

// TestCheck changes one limit at a time: what cannot be kept is refused and named, what is at
// the edge is taken.
func TestCheck(t *testing.T) {
	base := checked()
	if err := base.Check(); err != nil {
		t.Fatalf("all at the edge: %v", err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		change func(l *Limits)
		why    string // "": it is taken
	}{
		"no time":                    {func(l *Limits) { l.Tick = 0 }, "tick"},
		"time backwards":             {func(l *Limits) { l.Tick = -1 }, "tick"},
		"low NaN":                    {func(l *Limits) { l.Variables[0].Low = nan }, "hard bounds"},
		"low infinite":               {func(l *Limits) { l.Variables[0].Low = -inf }, "hard bounds"},
		"high infinite":              {func(l *Limits) { l.Variables[0].High = inf }, "hard bounds"},
		"high NaN":                   {func(l *Limits) { l.Variables[0].High = nan }, "hard bounds"},
		"no room":                    {func(l *Limits) { v := &l.Variables[0]; v.Low, v.High, v.Safe = 1, 1, 1 }, "hard bounds"},
		"the wrong way round":        {func(l *Limits) { v := &l.Variables[0]; v.Low, v.High = 10, 0 }, "hard bounds"},
		"a span that is no number":   {func(l *Limits) { v := &l.Variables[0]; v.Low, v.High = -math.MaxFloat64, math.MaxFloat64 }, "hard bounds"},
		"safe at low":                {func(l *Limits) { l.Variables[0].Safe = 0 }, ""},
		"safe at high":               {func(l *Limits) { l.Variables[0].Safe = 10 }, ""},
		"safe below":                 {func(l *Limits) { l.Variables[0].Safe = -0.1 }, "safe value"},
		"safe above":                 {func(l *Limits) { l.Variables[0].Safe = 10.1 }, "safe value"},
		"safe NaN":                   {func(l *Limits) { l.Variables[0].Safe = nan }, "safe value"},
		"no way up":                  {func(l *Limits) { l.Variables[0].SlewUp = 0 }, "slew"},
		"no way down":                {func(l *Limits) { l.Variables[0].SlewDown = 0 }, "slew"},
		"slew NaN":                   {func(l *Limits) { l.Variables[0].SlewDown = nan }, "slew"},
		"jumps up":                   {func(l *Limits) { l.Variables[0].SlewUp = inf }, "slew"},
		"jumps down":                 {func(l *Limits) { l.Variables[0].SlewDown = inf }, "slew"},
		"a short lease":              {func(l *Limits) { l.Variables[0].Lease = 3*time.Second - 1 }, "lease"},
		"no lease":                   {func(l *Limits) { l.Variables[0].Lease = 0 }, ""},
		"tolerance below 0":          {func(l *Limits) { l.Variables[0].Tolerance = -1 }, "tolerance"},
		"tolerance NaN":              {func(l *Limits) { l.Variables[0].Tolerance = nan }, "tolerance"},
		"no readback":                {func(l *Limits) { l.Variables[0].Tolerance = 0 }, ""},
		"resolution below 0":         {func(l *Limits) { l.Variables[0].Resolution = -1 }, "resolution"},
		"resolution NaN":             {func(l *Limits) { l.Variables[0].Resolution = nan }, "resolution"},
		"no actuator":                {func(l *Limits) { l.Variables = append(l.Variables, VariableLimits{Low: 1}) }, ""},
		"interlock on nothing":       {func(l *Limits) { l.Interlocks[0].Sensor = 1 }, "interlock"},
		"interlock below":            {func(l *Limits) { l.Interlocks[0].Sensor = -1 }, "interlock"},
		"permissive on nothing":      {func(l *Limits) { l.Permissives[0].Sensor = 1 }, "permissive"},
		"agrees with nothing":        {func(l *Limits) { l.Sensors[0].With = 1 }, "agreement"},
		"agrees with nobody":         {func(l *Limits) { l.Sensors[0].With, l.Sensors[0].Tolerance = 1, 0 }, ""},
		"response of nothing":        {func(l *Limits) { l.Responses[0].Variable = 2 }, "response"},
		"response of below":          {func(l *Limits) { l.Responses[0].Variable = -1 }, "response"},
		"response of no actuator":    {func(l *Limits) { l.Variables = append(l.Variables, VariableLimits{}); l.Responses[0].Variable = 2 }, "response"},
		"response on nothing":        {func(l *Limits) { l.Responses[0].Sensor = 1 }, "response"},
		"response on the readback":   {func(l *Limits) { l.Responses[0].Sensor = -1 }, ""},
		"response of no size":        {func(l *Limits) { l.Responses[0].Moves = 0 }, "moves"},
		"response NaN":               {func(l *Limits) { l.Responses[0].Moves = nan }, "moves"},
		"duty of nothing":            {func(l *Limits) { l.Duties[0].Variable = 2 }, "duty"},
		"duty of 0":                  {func(l *Limits) { l.Duties[0].Fraction = 0 }, "duty"},
		"duty of 1":                  {func(l *Limits) { l.Duties[0].Fraction = 1 }, "duty"},
		"duty NaN":                   {func(l *Limits) { l.Duties[0].Fraction = nan }, "duty"},
		"duty of a moment":           {func(l *Limits) { l.Duties[0].Window-- }, "duty"},
		"bypass of a stop":           {func(l *Limits) { l.Bypasses[0].Rule = RuleStop }, "bypassed"},
		"dose from above 0":          {func(l *Limits) { l.Variables[1].Low = 0.1 }, "dose lies"},
		"dose without a bound":       {func(l *Limits) { l.Variables[1].High = inf }, "dose lies"},
		"dose of nothing":            {func(l *Limits) { l.Variables[1].High, l.Variables[1].Resolution = 0, 0 }, "dose lies"},
		"dose below the resolution":  {func(l *Limits) { l.Variables[1].Resolution = 5.1 }, "resolution"},
		"dose resolution below 0":    {func(l *Limits) { l.Variables[1].Resolution = -1 }, "resolution"},
		"dose resolution NaN":        {func(l *Limits) { l.Variables[1].Resolution = nan }, "resolution"},
		"dose of any fineness":       {func(l *Limits) { l.Variables[1].Resolution = 0 }, ""},
		"dose to safety":             {func(l *Limits) { l.Variables[1].OnFault = RestSafe }, "no safe value"},
		"dose to safety at the end":  {func(l *Limits) { l.Variables[1].Shutdown = RestSafe }, "no safe value"},
		"dose with a lease":          {func(l *Limits) { l.Variables[1].Lease = time.Minute }, "no lease"},
		"dose with a readback":       {func(l *Limits) { l.Variables[1].Tolerance = 1 }, "no lease"},
		"dose with exposure":         {func(l *Limits) { l.Variables[1].AboveTime = 1 }, "no lease"},
		"budget of nothing":          {func(l *Limits) { l.Doses[0].Variable = 2 }, "dose"},
		"budget that gives nothing":  {func(l *Limits) { l.Doses[0].PerDose = 0 }, "dose of at most"},
		"budget NaN":                 {func(l *Limits) { l.Doses[0].PerDose = nan }, "dose of at most"},
		"two budgets":                {func(l *Limits) { l.Doses[1].Variable = 0 }, "budgets"},
		"a dose without a budget":    {func(l *Limits) { l.Doses = l.Doses[:1] }, "budgets"},
		"a place without a budget":   {func(l *Limits) { l.Doses = l.Doses[1:] }, ""},
		"as many as there may be":    {func(l *Limits) { l.Links = make([]LinkLimits, MaxLinks) }, ""},
		"one link too many":          {func(l *Limits) { l.Links = make([]LinkLimits, MaxLinks+1) }, "links"},
		"one condition too many":     {func(l *Limits) { l.Interlocks = make([]Condition, maxSubjects+1) }, "interlocks"},
		"as many conditions as bits": {func(l *Limits) { l.Permissives = make([]Condition, maxSubjects) }, ""},
	} {
		l := checked()
		c.change(&l)
		switch err := l.Check(); {
		case c.why == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.why != "" && (!errors.Is(err, ErrLimits) || !strings.Contains(err.Error(), c.why)):
			t.Errorf("%s: error %v, want one of %q", name, err, c.why)
		}
	}
}

// TestCheckWithoutSensors: sensor 0 is none where there are none.
func TestCheckWithoutSensors(t *testing.T) {
	l := oneVariable()
	l.Responses = []ResponseLimits{{Moves: 1}}
	if err := l.Check(); !errors.Is(err, ErrLimits) {
		t.Errorf("error %v", err)
	}
}

// TestWordsOfRules: every reaction and every clearing has a word of its own, and there is no
// rule beyond the last.
func TestWordsOfRules(t *testing.T) {
	seen := map[string]bool{}
	for _, word := range []string{ReactNot.String(), ReactHold.String(), ReactFall.String(), ReactTrip.String(), ReactStop.String()} {
		if seen[word] || word == "" {
			t.Errorf("reaction %q", word)
		}
		seen[word] = true
	}
	clear(seen)
	for _, word := range []string{ClearAuto.String(), ClearAck.String(), ClearReset.String(), ClearRestart.String()} {
		if seen[word] || word == "" {
			t.Errorf("clearing %q", word)
		}
		seen[word] = true
	}
	if About(RuleCount) != (Info{}) || About(RuleCount-1) == (Info{}) {
		t.Error("the last rule is the last")
	}
}
