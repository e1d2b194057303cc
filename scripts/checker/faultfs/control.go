package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"time"
)

// slowest is the longest that `slow` takes: what waits in the kernel cannot be killed.
const slowest = time.Minute

// control takes commands from everyone who connects, until the listener is closed.
func (s *server) control(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go s.converse(conn)
	}
}

func (s *server) converse(conn net.Conn) {
	defer conn.Close()
	for in := bufio.NewScanner(conn); in.Scan(); {
		said, err := s.command(strings.Fields(in.Text()))
		if err != nil {
			said = "error " + err.Error()
		} else {
			said = strings.TrimSpace("ok " + said)
		}
		if _, err := fmt.Fprintln(conn, strings.ReplaceAll(said, "\n", " ")); err != nil {
			return
		}
	}
}

var errCommand = errors.New("the commands are: full on|off, errors on|off, slow MS, crash [SEED], stats")

func (s *server) command(words []string) (string, error) {
	if len(words) == 1 {
		switch words[0] {
		case "stats":
			return s.stats(), nil
		case "crash":
			return s.crash(nil)
		}
	}
	if len(words) != 2 {
		return "", errCommand
	}
	switch words[0] {
	case "full", "errors":
		on := words[1] == "on"
		if !on && words[1] != "off" {
			return "", errCommand
		}
		s.setFaults(func(f *faults) {
			if words[0] == "full" {
				f.full = on
			} else {
				f.errors = on
			}
		})
		return "", nil
	case "slow":
		ms, err := strconv.ParseUint(words[1], 10, 32)
		if err != nil || time.Duration(ms)*time.Millisecond > slowest {
			return "", fmt.Errorf("slow takes 0 to %d milliseconds", slowest.Milliseconds())
		}
		s.setFaults(func(f *faults) { f.slow = time.Duration(ms) * time.Millisecond })
		return "", nil
	case "crash":
		seed, err := strconv.ParseUint(words[1], 10, 64)
		if err != nil {
			return "", fmt.Errorf("the seed is a whole number: %q", words[1])
		}
		return s.crash(rand.New(rand.NewPCG(seed, 0)))
	}
	return "", errCommand
}

// stats is one line of key=value.
func (s *server) stats() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, f := s.counts, s.faults
	return fmt.Sprintf("writes=%d bytes=%d syncs=%d foldersyncs=%d nospace=%d ioerrors=%d crashes=%d full=%t errors=%t slow=%d nodes=%d %s",
		c.writes, c.bytes, c.syncs, c.folderSyncs, c.full, c.errors, c.crashes, f.full, f.errors, f.slow.Milliseconds(), len(s.tree.nodes), s.tree.loss())
}
