package loop

// Endings says in words, by a run's reason (Result.Reason), why it ended.
func Endings() map[string]string {
	return map[string]string{reasonSteps: "all steps are done", reasonCost: "the budget does not pay for another step",
		reasonTime: "its time is over", reasonInterrupted: "it was interrupted", reasonFault: "a fault ended it",
		reasonNoData: "the instrument gave no data", reasonSafety: "the safety layer ended it", reasonBest: "a person ended the search"}
}
