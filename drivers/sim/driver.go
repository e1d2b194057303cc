package sim

import "github.com/labtuner/tuner/drivers"

// Driver describes this driver: a device of the simulated plant in real time, within the
// process.
func Driver() drivers.Driver {
	return drivers.Driver{Name: "sim", Introduces: true, Wire: func(s drivers.Section) drivers.Wired {
		s.Decode(&struct{}{})
		build := s.Simulated()
		if build == nil {
			s.Problem("driver", `"sim" is a device of the simulated plant, and there is no [plant]`, "add [plant]")
		}
		return drivers.Wired{Build: build}
	}}
}
