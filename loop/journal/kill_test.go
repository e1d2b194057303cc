package journal

import "testing"

func child(job string) int { return 0 }

func TestKill(t *testing.T) {}
