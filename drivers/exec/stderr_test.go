package exec

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestStderrLevels(t *testing.T) {
	said := &records{}
	log := slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
	long := strings.Repeat("y", 5000)
	var w lastWords
	w.relay(strings.NewReader("E! on fire\nW! warm\nI! fine\nD! detail\nplain\r\n\nE!no blank\n"+long+"\nlast\x1b[31m"), log)
	want := []string{
		`level=ERROR msg="on fire" from=child`,
		`level=WARN msg=warm from=child`,
		`level=INFO msg=fine from=child`,
		`level=DEBUG msg=detail from=child`,
		`level=INFO msg=plain from=child`,
		`level=INFO msg="E!no blank" from=child`,
		fmt.Sprintf(`level=INFO msg=%s from=child cut=true`, long[:maxWords]),
		`level=INFO msg="last\x1b[31m" from=child`,
		``,
	}
	if got := said.String(); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if got := w.last(); got != "last\x1b[31m" {
		t.Errorf("the last line is %q", got)
	}
}
