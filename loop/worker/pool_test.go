package worker

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestLanesKeepOrder: results of one worker come in posting order, whatever another worker
// does meanwhile, each under its own ticket.
func TestLanesKeepOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New()
		defer p.Close(time.Second)
		held := make(chan struct{})
		p.Post(0, func() any { <-held; return "held" })
		tickets := map[Ticket]int{}
		for i := range 100 {
			tickets[p.Post(1, func() any { return i })] = i
		}
		synctest.Wait()
		<-p.Ready()
		got := p.Take()
		if len(got) != 100 {
			t.Fatalf("%d results while another worker is held, want 100", len(got))
		}
		for i, r := range got {
			if r.Value != i || tickets[r.Ticket] != i {
				t.Fatalf("result %d is %v under the ticket of %d", i, r.Value, tickets[r.Ticket])
			}
		}
		close(held)
		synctest.Wait()
		if got := p.Take(); len(got) != 1 || got[0].Value != "held" {
			t.Errorf("the worker that was held gave %v", got)
		}
	})
}

// TestVirtualRunsInPostingOrder: what a result leads to is posted behind what waits
// already, and a job without a result is passed over.
func TestVirtualRunsInPostingOrder(t *testing.T) {
	p := NewVirtual()
	var ran []string
	job := func(name string) func() any { return func() any { ran = append(ran, name); return name } }
	p.Post(3, job("a"))
	p.Post(1, func() any { ran = append(ran, "none"); return nil })
	p.Put("put")
	p.Post(1, job("b"))
	for {
		got := p.Take()
		if len(got) == 0 {
			break
		}
		if len(got) != 1 {
			t.Fatalf("%d results at once, want 1", len(got))
		}
		ran = append(ran, fmt.Sprint("<", got[0].Value))
		if got[0].Value == "a" {
			p.Post(0, job("c"))
		}
	}
	want := []string{"a", "<a", "none", "<put", "b", "<b", "c", "<c"}
	if !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
}

// TestPutIsBounded: readings that come faster than they are taken are refused, and a
// job's result never is.
func TestPutIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New()
		defer p.Close(time.Second)
		taken, refused := 0, 0
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range maxTransfer {
					ok := p.Put(1)
					mu.Lock()
					if ok {
						taken++
					} else {
						refused++
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		p.Post(0, func() any { return "job" })
		synctest.Wait()
		got := p.Take()
		if taken != maxTransfer || refused != 3*maxTransfer || len(got) != maxTransfer+1 || got[len(got)-1].Value != "job" {
			t.Errorf("%d were taken and %d refused, %d results", taken, refused, len(got))
		}
		if !p.Put(2) {
			t.Error("there is room again, and Put refuses")
		}
	})
}

// TestCloseWaitsForWhatIsQueued, and no longer than it is told for a job that hangs.
func TestCloseWaitsForWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ran := New(), 0
		for range 3 {
			p.Post(0, func() any { time.Sleep(time.Second); ran++; return nil })
		}
		p.Close(time.Minute)
		if ran != 3 {
			t.Errorf("%d of 3 queued jobs ran before Close returned", ran)
		}
		p, hangs := New(), make(chan struct{})
		p.Post(0, func() any { <-hangs; return nil })
		synctest.Wait()
		begun := time.Now()
		p.Close(10 * time.Second)
		if waited := time.Since(begun); waited != 10*time.Second {
			t.Errorf("Close waited %v for a job that hangs, want 10 s", waited)
		}
		close(hangs)
	})
}
