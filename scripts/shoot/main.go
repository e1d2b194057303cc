// Command shoot takes a picture of a page with Chromium, once it has drawn itself:
//
//	go run ./scripts/shoot FILE.png WIDTHxHEIGHT ADDRESS
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/chromedp/chromedp"
)

// drawn is true in a page of tuner that has drawn what is in its window.
const drawn = `Boolean(document.querySelector("canvas, figure svg")) && !document.querySelector("[aria-busy]")`

// patience bounds the wait for that, still is how long it has to hold.
const (
	patience = 2 * time.Minute
	still    = time.Second
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "shoot:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var width, height int64
	if len(args) != 3 {
		return errors.New("usage: shoot FILE.png WIDTHxHEIGHT ADDRESS")
	}
	if _, err := fmt.Sscanf(args[1], "%dx%d", &width, &height); err != nil {
		return fmt.Errorf("%q is no size such as 1280x900: %w", args[1], err)
	}
	browser, err := browserPath()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ctx, stop := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox)...)
	defer stop()
	ctx, leave := chromedp.NewContext(ctx)
	defer leave()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, height), chromedp.Navigate(args[2])); err != nil {
		return err
	}
	if err := await(ctx); err != nil {
		return err
	}
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], png, 0o644)
}

// await waits until the page has been drawn for a while: what comes near the window is drawn after it.
func await(ctx context.Context) error {
	for since := time.Now(); time.Since(since) < still; time.Sleep(still / 10) {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](drawn))
		if err != nil {
			return fmt.Errorf("the page has not drawn itself in %v: %w", patience, err)
		}
		if !ok {
			since = time.Now()
		}
	}
	return nil
}

func browserPath() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no Chromium here")
}
