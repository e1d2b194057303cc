package brokers

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/scripts/testsize"
)

// brightest is where the lamp of TestLampOfThePage gives the meter the most light.
const brightest = 170

// TestLampOfThePage runs the file of a lamp and a meter that docs/how-to/first-file.md has, as it stands there but for
// the broker's address, against a lamp and a meter that speak as Zigbee2MQTT documents it
// (https://www.zigbee2mqtt.io/guide/usage/mqtt_topics_and_messages.html).
func TestLampOfThePage(t *testing.T) {
	testsize.Only(t)
	t.Parallel()
	page := trial.ReadFile(t, filepath.Join("..", "..", "..", "..", "docs", "how-to", "first-file.md"))
	_, page, _ = strings.Cut(page, "## A Zigbee lamp")
	file := regexp.MustCompile("(?s)```toml\n(.*?)```").FindStringSubmatch(page)
	if file == nil || strings.Count(file[1], "\n") > 20 {
		t.Fatalf("the page has no file of at most 20 lines: %q", file)
	}
	b := broker.Start(t)
	dir := t.TempDir()
	text := strings.ReplaceAll(file[1], "tcp://127.0.0.1:1883", b.URL)
	if err := os.WriteFile(filepath.Join(dir, "lamp.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	playLamp(t, b.URL)
	for _, command := range []string{"check", "run"} {
		out, err := trial.Command(t, dir, command, "lamp.toml").CombinedOutput()
		if err != nil {
			t.Fatalf("tuner %s: %v\n%s", command, err, out)
		}
		if command == "check" {
			continue
		}
		at := regexp.MustCompile(`(?m)^\s+brightness\s+(\S+)`).FindSubmatch(out)
		if at == nil {
			t.Fatalf("no recommended setting:\n%s", out)
		}
		if v, err := strconv.ParseFloat(string(at[1]), 64); err != nil || math.Abs(v-brightest) > 25 {
			t.Errorf("tuned to %s, it is brightest at %d:\n%s", at[1], brightest, out)
		}
		t.Logf("tuned to %s; it is brightest at %d", at[1], brightest)
	}
}

// playLamp plays desk_lamp, which answers what it is asked and set, and desk_meter, which speaks every 100 ms.
func playLamp(t *testing.T, url string) {
	t.Helper()
	var mu sync.Mutex
	level, on := 1, false
	var c *mqtt.Client
	news := make(chan bool, 100)
	speak := func(topic, text string, retained bool) {
		_ = c.Publish(t.Context(), mqtt.Message{Topic: topic, Payload: []byte(text), Retained: retained}) // the test's end ends it
	}
	c = plainPeer(t, url, func(m mqtt.Message) {
		var set struct {
			State      string
			Brightness *int
		}
		if strings.HasSuffix(m.Topic, "/set") && json.Unmarshal(m.Payload, &set) == nil {
			mu.Lock()
			on = set.State != "OFF"
			if set.Brightness != nil {
				level = *set.Brightness
			}
			mu.Unlock()
		}
		news <- true
	}, "zigbee2mqtt/desk_lamp/set", "zigbee2mqtt/desk_lamp/get")
	speak("zigbee2mqtt/bridge/state", `{"state":"online"}`, true)
	go func() {
		for t.Context().Err() == nil {
			asked := false
			select {
			case asked = <-news:
			case <-time.After(100 * time.Millisecond):
			}
			mu.Lock()
			word, light := "OFF", 0
			if on {
				word, light = "ON", level
			}
			state := fmt.Sprintf(`{"brightness":%d,"color_mode":"color_temp","color_temp":325,"linkquality":120,"state":%q}`, level, word)
			mu.Unlock()
			if asked {
				speak("zigbee2mqtt/desk_lamp", state, false)
			}
			lux := 900 - (light-brightest)*(light-brightest)/50
			speak("zigbee2mqtt/desk_meter", fmt.Sprintf(`{"battery":100,"illuminance":%d,"linkquality":98,"voltage":3000}`, lux), false)
		}
	}()
}
