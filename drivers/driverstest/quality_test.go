package driverstest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	root = "../.."
	// qualityPage has the table between the two marks.
	qualityPage, tableBegins, tableEnds = "docs/reference/driver-quality.md", "<!-- claims -->\n", "<!-- end of claims -->\n"
	// units of every driver's channels are compared with the file's where the run begins.
	allUnits  = "loop/loop_test.go:TestDevicesAreComparedWithTheOptions"
	byOthers  = "cmd/tuner/trial/foreign/foreign_test.go:TestTunedToTheirBest/"
	serialDir = "drivers/serial/"
)

// by puts a driver's evidence together; each is below the driver's folder.
func by(folder string, tests map[string]string) map[string]string {
	all := map[string]string{"units": allUnits}
	for demand, test := range tests {
		if !strings.HasPrefix(test, "cmd/") {
			test = folder + test
		}
		all[demand] = test
	}
	return all
}

// claims are those of every driver, and of every way of the serial one.
var claims = []Claim{
	{"serial", Foreign, by(serialDir, map[string]string{"contract": "device_test.go:TestConforms", "sample": "options_test.go:TestSample", "identification": "connect_test.go:TestAnotherInstrument",
		"reconnection": "connect_test.go:TestReconnect", "fault injection": "exchange_test.go:TestBadAnswers", "safe value": "edges_test.go:TestBlindSafeValueSaysItsLease", "instrument by others": byOthers + "lewis on a cable", "outages": "campaign_test.go:TestUnplugCampaign"})},
	{"tcp", Foreign, by(serialDir, map[string]string{"contract": "network_test.go:TestNetworkConforms", "sample": "options_test.go:TestSample", "identification": "connect_test.go:TestAnotherInstrument",
		"reconnection": "network_test.go:TestSilentConnectionIsReplaced", "fault injection": "network_test.go:TestUnconfirmedBytesAreThrownAway", "safe value": "network_test.go:TestSafeValueOverADoubtfulConnection",
		"instrument by others": byOthers + "lewis", "outages": "outagereal_test.go:TestRealOutages"})},
	{"modbus-rtu", Foreign, by(serialDir, map[string]string{"contract": "modbus_test.go:TestModbusConforms", "sample": "options_test.go:TestSample", "identification": "modbus_test.go:TestModbusExpect",
		"reconnection": "connect_test.go:TestReconnect", "fault injection": "modbus_test.go:TestModbusFaults", "safe value": "modbus_test.go:TestModbusDevice",
		"instrument by others": byOthers + "pymodbus on a cable", "outages": "outagereal_test.go:TestRealOutages/modbus"})},
	{"modbus-tcp", Foreign, by(serialDir, map[string]string{"contract": "network_test.go:TestNetworkConforms", "sample": "options_test.go:TestSample", "identification": "modbus_test.go:TestModbusExpect",
		"reconnection": "network_test.go:TestSilentConnectionIsReplaced", "fault injection": "modbus_test.go:TestModbusFaults", "safe value": "network_test.go:TestSafeValueOverADoubtfulConnection",
		"instrument by others": byOthers + "pymodbus", "outages": "outagereal_test.go:TestRealOutages"})},
	{"mqtt", Foreign, by("drivers/mqtt/", map[string]string{"contract": "broker_test.go:TestConforms", "sample": "options_test.go:TestSample", "identification": "status_test.go:TestWhoSpeaksIsThere",
		"reconnection": "broker_test.go:TestOutage", "fault injection": "reading_test.go:TestReadings", "safe value": "safe_test.go:TestSafeOverASilentLink", "instrument by others": byOthers + "ha-mqtt-discoverable", "outages": "templatecampaign_test.go:TestRealTemplateOutages"})},
	{"exec", Foreign, by("drivers/exec/", map[string]string{"contract": "device_test.go:TestConforms", "sample": "options_test.go:TestSample", "identification": "device_test.go:TestOpenFaults",
		"reconnection": "fault_test.go:TestReadFaults", "fault injection": "fault_test.go:TestReadFaults", "safe value": "safe_test.go:TestSafeToAChildThatCannotTakeIt", "instrument by others": byOthers + "pyvisa-sim",
		"outages": "campaign_test.go:TestOutageCampaign"})},
	{"opcua", Foreign, by("drivers/opcua/", map[string]string{"contract": "device_test.go:TestConforms", "sample": "options_test.go:TestSample", "identification": "security_test.go:TestAnotherServerIsRefused",
		"reconnection": "device_test.go:TestNoAnswerBreaksTheConnection", "fault injection": "device_test.go:TestStatusDecides", "safe value": "device_test.go:TestSafeOvertakesAndIsLast",
		"instrument by others": byOthers + "asyncua", "outages": "campaign_test.go:TestOutageCampaign"})},
	{"sim", Robust, map[string]string{"units": allUnits, "contract": "drivers/driverstest/sim_test.go:TestSimConforms", "sample": "drivers/sim/sample_test.go:TestSampleHoldsTheSchema", "identification": "drivers/sim/device_test.go:TestChannels",
		"reconnection": "drivers/sim/fault_test.go:TestLostLink", "fault injection": "drivers/sim/spoil_test.go:TestSpoiltWire", "safe value": "drivers/sim/device_test.go:TestHalt"}},
}

// TestQuality: no driver claims a step that it does not meet, every driver claims one, and the page says so.
func TestQuality(t *testing.T) {
	said := ""
	for _, c := range claims {
		for _, p := range c.Problems(root) {
			t.Error(p)
		}
		said += c.Name + " "
	}
	folders, err := filepath.Glob(filepath.Join("..", "*", "driver.go"))
	if err != nil || len(folders) < 5 {
		t.Fatalf("%q, %v", folders, err)
	}
	for _, f := range folders {
		if name := filepath.Base(filepath.Dir(f)); !strings.Contains(said, name+" ") {
			t.Errorf("driver %s claims no step", name)
		}
	}
	var table strings.Builder
	fmt.Fprintln(&table, "| driver | step | shown by, below the repository |\n|---|---|---|")
	for _, c := range claims {
		var shown []string
		for _, d := range Demands {
			if test := c.By[d.Name]; test != "" {
				shown = append(shown, fmt.Sprintf("%s: `%s`", d.Name, test))
			}
		}
		fmt.Fprintf(&table, "| `%s` | %v | %s |\n", c.Name, c.Step, strings.Join(shown, "; "))
	}
	path := filepath.Join(root, qualityPage)
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(page), tableBegins)
	has, after, ok2 := strings.Cut(rest, tableEnds)
	switch {
	case !ok1 || !ok2:
		t.Fatalf("%s has no place for the table", qualityPage)
	case has == table.String():
	case os.Getenv("UPDATE_DOCS") != "":
		if err := os.WriteFile(path, []byte(before+tableBegins+table.String()+tableEnds+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what the drivers claim: UPDATE_DOCS=1 go test ./drivers/driverstest -run TestQuality writes it", qualityPage)
	}
}

// TestQualityFindsFalseClaims: a claim without its evidence, with a test that is not there, is skipped or checks
// nothing of the kind, fails.
func TestQualityFindsFalseClaims(t *testing.T) {
	for name, spoil := range map[string]func(*Claim){
		"a step too high":  func(c *Claim) { c.Step = InLabs },
		"nothing named":    func(c *Claim) { delete(c.By, "reconnection") },
		"no such test":     func(c *Claim) { c.By["reconnection"] = "drivers/opcua/device_test.go:TestNothing" },
		"no such file":     func(c *Claim) { c.By["units"] = "drivers/opcua/units_test.go:TestUnits" },
		"another test":     func(c *Claim) { c.By["contract"] = "drivers/opcua/options_test.go:TestSample" },
		"no such part":     func(c *Claim) { c.By["instrument by others"] = byOthers + "nobody" },
		"a false addition": func(c *Claim) { c.Step, c.By["outages"] = Robust, "drivers/opcua/device_test.go:TestNothing" },
	} {
		c := claims[slices.IndexFunc(claims, func(c Claim) bool { return c.Name == "opcua" })]
		c.By = maps.Clone(c.By)
		if spoil(&c); len(c.Problems(root)) == 0 {
			t.Errorf("%s is not found", name)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a_test.go"), []byte("package a\n\nfunc TestA(t *testing.T) {\n\tt.Skip()\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if why := missing(dir, "a_test.go:TestA", ""); !strings.Contains(why, "skipped") {
		t.Errorf("a skipped test: %q", why)
	}
}
