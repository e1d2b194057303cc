package session

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// openPanel makes the place where commands to the run come in and its status comes out.
// Transports that people reach it by attach themselves to it.
func (s *session) openPanel(deps *loop.Deps) error {
	unique := make([]byte, 16)
	if _, err := io.ReadFull(s.Env.Random, unique); err != nil {
		return fmt.Errorf("name the session: %w", err)
	}
	s.panel = control.NewPanel(hex.EncodeToString(unique))
	s.Setup.Options.Run = plan.RunNames{ID: s.run.ID, Name: s.run.Name, Site: s.run.Site, Journal: s.Path}
	deps.Panel = s.panel
	return nil
}
