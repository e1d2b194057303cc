package drivers

import "testing"

func TestPlace(t *testing.T) {
	for text, want := range map[string]string{
		"localhost:1883": "127.0.0.1:1883", "LocalHost.:1883": "127.0.0.1:1883", "mylocalhost:1883": "mylocalhost:1883", "localhost.lab:80": "localhost.lab:80",
		"Scope.Lab:5025": "scope.lab:5025", "scope.lab.:5025": "scope.lab:5025", "[0:0:0:0:0:0:0:1]:502": "[::1]:502", "[::ffff:10.0.0.7]:502": "10.0.0.7:502",
		"10.0.0.7:502": "10.0.0.7:502", "/dev/ttyUSB0": "/dev/ttyUSB0", "": "",
	} {
		if got := Place(text); got != want {
			t.Errorf("%q is at %q, want %q", text, got, want)
		}
	}
}
