package notices

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// The formats of a request.
const (
	// JSON is the Notice as it is.
	JSON = "json"
	// Text is its text alone, with its kind in the header Title, as ntfy takes it.
	Text = "text"
	// Slack is {"text": TEXT}, as Slack, Mattermost and their kin take it.
	Slack = "slack"
)

// Webhook delivers by POST to a URL, which is never shown: it may hold a secret.
type Webhook struct {
	URL, Format string
}

// Deliver implements Way. What the server answers with 3xx and 4xx is refused, except 408 and 429.
func (w *Webhook) Deliver(ctx context.Context, n Notice) error {
	var body any = n
	kind := "application/json"
	if w.Format == Slack {
		body = map[string]string{"text": n.headed()}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if w.Format == Text {
		text, kind = []byte(n.Text), "text/plain; charset=utf-8"
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%w: the URL cannot be used", ErrRefused)
	}
	q.Header.Set("Content-Type", kind)
	q.Header.Set("Title", header(n.Name+": "+n.Event))
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		// A redirect is not followed: it would make a GET of the notice, and show the URL as Referer to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	a, err := client.Do(q)
	if e := new(url.Error); errors.As(err, &e) {
		return e.Err
	} else if err != nil {
		return err
	}
	defer a.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(a.Body, 1<<16)) // what it says is of no use
	switch c := a.StatusCode; {
	case c < 300:
		return nil
	case c >= 500, c == http.StatusRequestTimeout, c == http.StatusTooManyRequests:
		return fmt.Errorf("the server answers %s", a.Status)
	}
	return fmt.Errorf("%w: the server answers %s", ErrRefused, a.Status)
}

// headed is the text with the run's name.
func (n *Notice) headed() string { return n.Name + ": " + n.Text }

// header is a text that may stand in a header.
func header(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '_'
		}
		return c
	}, text)
}
