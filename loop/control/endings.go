package control

import "github.com/labtuner/tuner/loop/plan"

// Endings says in words, by a run's reason (Result.Reason), why it ended.
func Endings() map[string]string {
	return map[string]string{ReasonSteps: "all steps are done", ReasonCost: "the budget does not pay for another step",
		ReasonTime: "its time is over", ReasonInterrupted: "it was interrupted", ReasonFault: "a fault ended it",
		reasonNoData: "the instrument gave no data", ReasonSafety: "the safety layer ended it", ReasonTarget: "the target is reached", ReasonNoImprovement: "the bound stopped improving",
		ReasonBest: "an operator ended the search", ReasonEnd: "an operator ended it"}
}

// Why a run ended.
const (
	ReasonSteps       = plan.StopSteps
	ReasonCost        = plan.StopCost
	ReasonTime        = plan.StopTime
	ReasonInterrupted = "interrupted"
	ReasonFault       = "fault"
	reasonNoData      = "no data"
	ReasonSafety      = "safety"
	ReasonBest        = "set-best"
	ReasonEnd         = "end"
	// ReasonTarget and ReasonNoImprovement go by the pessimistic bound of what is recommended.
	ReasonTarget        = plan.StopTarget
	ReasonNoImprovement = plan.StopNoImprovement
)
